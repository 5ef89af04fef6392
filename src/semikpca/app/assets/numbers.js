/* Labels that are numbers: a field to type into. Loaded before page.js, so that its keys come first. */
(function () {
  "use strict";

  const BEGINS = /^[0-9.,+\-\u2212]$/; // what a number begins with
  const field = () => document.querySelector("#detail input[data-number]");
  let given = null; // the number that the server has not answered yet, and the field that it was typed into

  // One at a time: the next row is not in view yet, and must not get a number by a second Enter. What is typed meanwhile
  // goes on in the field of the next row.
  function give() {
    const input = field();
    if (!input || given) return;
    given = { input, text: input.value };
    input.value = "";
    window.semikpcaSend("number", { value: given.text });
  }

  // Before the page's own keys: a digit begins a number here, and gives no class.
  document.addEventListener("keydown", (event) => {
    const input = field();
    if (!input) return;
    if (event.target === input) {
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        give();
      }
      return;
    }
    const isElsewhere = event.target.closest("input, textarea, select, .ag-root, [role=slider]");
    const isCovered = document.body.classList.contains("helping") || window.semikpcaState.isOpen();
    if (isElsewhere || isCovered || event.ctrlKey || event.metaKey || event.altKey) return;
    if (BEGINS.test(event.key)) {
      input.focus(); // what was pressed is written there
      event.stopImmediatePropagation();
    } else if (event.key === "e") {
      event.preventDefault();
      event.stopImmediatePropagation();
      input.focus();
      input.select();
    }
  }, true);

  // In its own phase as well, before the page sends what it does not know.
  document.addEventListener("click", (event) => {
    if (!event.target.closest('[data-act="give-number"]')) return;
    event.stopImmediatePropagation();
    give();
  }, true);

  // The field of the next row takes the focus of the one before; what was refused stays to be corrected.
  document.addEventListener("semikpca-shown", () => {
    if (!given) return;
    const { input: before, text } = given;
    given = null;
    const input = field();
    if (!input) return;
    input.focus({ preventScroll: true });
    if (document.querySelector("#detail .banner.error")) {
      input.value = text;
      input.select();
    } else {
      input.value = before.value;
    }
  });
})();
