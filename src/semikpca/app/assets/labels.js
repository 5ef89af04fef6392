/* Classes that are typed, dialogs, and labels that come from a file. Loaded before page.js, which hands over its send. */
(function () {
  "use strict";

  const byId = (id) => document.getElementById(id);
  let send = null;
  let before = null; // what had the focus when a dialog was opened

  // What a digit gives is what the page shows for it, by name.
  function classOf(key) {
    const line = document.querySelector('#classes [data-key="' + key + '"]');
    return line ? line.dataset.name : "";
  }

  function renameClass() {
    const input = document.querySelector("#edit-class input");
    if (input) send("rename-class", { value: input.value, name: input.dataset.name });
  }

  function focusClass() {
    const input = byId("find-class");
    if (!input) return;
    input.focus();
    input.select();
  }

  function leaveClass(input) {
    input.value = "";
    input.blur();
  }

  // -- what is typed -------------------------------------------------------------------------------------------

  document.addEventListener("input", (event) => {
    if (event.target.id === "find-class") send("find-class", { value: event.target.value });
  });

  document.addEventListener("keydown", (event) => {
    const input = event.target;
    if (input.id === "find-class" && event.key === "Enter") {
      send("give-class", { value: input.value, new: event.shiftKey ? "1" : "" });
      leaveClass(input);
    } else if (input.id === "find-class" && event.key === "Escape") {
      leaveClass(input);
      send("find-class", { value: "" });
    } else if (input.closest("#edit-class input") && event.key === "Enter") {
      renameClass();
    } else if (input.closest("#edit-class") && event.key === "Escape") {
      event.stopPropagation();
      send("edit-class", { name: "" });
    } else if (isOpen() && event.key === "Tab") {
      keepInside(event);
    }
  }, true);

  // -- dialogs -------------------------------------------------------------------------------------------------

  const isOpen = () => Boolean(byId("dialog") && byId("dialog").hasChildNodes());

  function keepInside(event) {
    const all = [...byId("dialog").querySelectorAll("button, a[href], input")];
    const last = all[all.length - 1];
    if (event.shiftKey ? document.activeElement === all[0] : document.activeElement === last) {
      event.preventDefault();
      (event.shiftKey ? last : all[0]).focus();
    }
  }

  function watch() {
    const dialog = byId("dialog");
    if (!dialog) return window.setTimeout(watch, 100);
    let wasOpen = false;
    return new MutationObserver(() => {
      if (isOpen() && !wasOpen) {
        before = document.activeElement;
        dialog.querySelector("button").focus();
      } else if (!isOpen() && wasOpen && before) {
        before.focus();
      }
      wasOpen = isOpen();
    }).observe(dialog, { childList: true });
  }
  watch();

  document.addEventListener("click", (event) => {
    if (event.target.id === "dialog") send("dialog", { value: "" });
    if (event.target.closest('[data-act="open"]')) send("list"); // how far the tables of the folder have come
  });

  // -- labels from a file --------------------------------------------------------------------------------------

  function importLabels() {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = ".csv,.json";
    input.addEventListener("change", () => input.files.length && upload(input.files[0]));
    input.click();
  }

  async function upload(file) {
    try {
      const answer = await fetch("labels?name=" + encodeURIComponent(file.name), { method: "POST", body: file });
      const { error, note } = await answer.json();
      send("dialog", { value: "" });
      send(error ? "refused" : "told", { value: error || note });
    } catch (problem) {
      send("refused", { value: "The file could not be sent: " + problem.message });
    }
  }

  window.semikpcaState = {
    classOf,
    isOpen,
    here: (sendEvent) => {
      send = sendEvent;
      return { "rename-class": renameClass, "focus-class": focusClass, "import-labels": importLabels };
    },
  };
})();
