/* How far the map is that is being computed. When it is there, the state of the page changes, and page.js fetches it. */
(function () {
  "use strict";

  async function look() {
    const bar = document.getElementById("map-progress");
    if (!bar || document.visibilityState !== "visible") return;
    try {
      const answer = await fetch("layout");
      if (!answer.ok) return;
      const { done, total } = await answer.json();
      if (total) bar.value = (100 * done) / total;
    } catch (problem) {
      // The program was stopped; page.js says so.
    }
  }

  window.setInterval(look, 700);
})();
