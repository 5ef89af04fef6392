/* The dialog of the columns: opened and closed here, applied by the server, which is told what was changed. */
(function () {
  "use strict";

  const isOpen = () => document.body.classList.contains("columning");

  // What is in the dialog comes from the server when it is asked for, and goes when it is closed.
  function toggle(open) {
    document.body.classList.toggle("columning", open);
    window.semikpcaSend(open ? "choose" : "chosen");
    focusOn(open ? "#columns .button" : "#open-columns", 50);
  }

  function focusOn(selector, tries) {
    const found = document.querySelector(selector);
    if (found) found.focus();
    else if (tries) window.setTimeout(focusOn, 50, selector, tries - 1);
  }

  function apply() {
    const columns = {};
    document.querySelectorAll("#columns select[data-column]").forEach((select) => {
      if (select.value !== select.dataset.was) columns[select.dataset.column] = select.value;
    });
    const encoder = document.querySelector("#columns select.encoder");
    const asked = { columns };
    if (encoder && encoder.value !== encoder.dataset.was) asked.encoder = encoder.value;
    if (!Object.keys(columns).length && !asked.encoder) return toggle(false);
    return window.semikpcaSend("columns", { value: JSON.stringify(asked) });
  }

  const here = { "columns-open": () => toggle(true), "columns-close": () => toggle(false), "columns-apply": apply };

  // Before the page's own handlers, which would send what they do not know.
  document.addEventListener("click", function (event) {
    const button = event.target.closest("[data-act]");
    if (event.target.id === "columns-frame") return toggle(false);
    if (!button || !here[button.dataset.act]) return;
    event.stopImmediatePropagation();
    here[button.dataset.act]();
  }, true);

  document.addEventListener("keydown", function (event) {
    if (!isOpen()) return;
    if (event.key === "Escape") toggle(false);
    event.stopImmediatePropagation(); // no row gets a label by a key that was meant for the dialog
  }, true);

  // A table that is on its way takes the dialog with it. If it could not be opened, the reason is in the dialog.
  let wasWorking = false;
  new MutationObserver(() => {
    const page = document.getElementById("page");
    if (!page) return;
    const isWorking = page.className === "working";
    if (isOpen() && !isWorking) document.body.classList.remove("columning");
    if (isWorking && !wasWorking && document.getElementById("columns-problem")) document.body.classList.add("columning");
    wasWorking = isWorking;
  }).observe(document.documentElement, { subtree: true, attributes: true, attributeFilter: ["class"] });
})();
