/* The table beside the map: the switch between them, the filters, and a grid that fetches the rows it shows. */
(function () {
  "use strict";

  const { send, setProps, shown, here } = window.semikpca;
  const byId = (id) => document.getElementById(id);
  const PAUSE = 150; // milliseconds: letters that are typed faster are searched for together
  const VIEW = "semikpca-view";

  let grid = null; // the interface of the grid, once it is there
  let isStarting = false;
  let chosen = new Set(); // the selected rows, also those that the grid has not fetched
  let isFollowing = false; // the page moves the boxes, not the reader
  let isStale = false; // labels have changed while the map was in view
  let asked = 0; // number of the last search: answers to earlier ones come too late

  // -- map or table ----------------------------------------------------------------------------------------------

  const isTable = () => document.body.classList.contains("table");

  function view(name) {
    document.body.classList.toggle("table", name === "table");
    document.querySelectorAll(".views .button").forEach((button) => {
      const on = button.dataset.value === name;
      button.classList.toggle("on", on);
      button.setAttribute("aria-pressed", on);
    });
    try {
      window.localStorage.setItem(VIEW, name);
    } catch (problem) {
      // A browser that keeps nothing: the map comes first next time.
    }
    if (name === "table") start();
    else window.dispatchEvent(new Event("resize")); // the map was drawn for another width
  }

  function remembered() {
    try {
      return window.localStorage.getItem(VIEW) === "table" ? "table" : "map";
    } catch (problem) {
      return "map";
    }
  }

  here.view = (button) => view(button.dataset.value);
  here.t = () => view(isTable() ? "map" : "table");
  here["/"] = () => {
    view("table");
    byId("search").focus();
  };

  // -- what is looked for ----------------------------------------------------------------------------------------

  // What is about classes is hidden where labels are numbers, and does not count then; and the other way round.
  const isHidden = (input) => input.closest(document.querySelector("#toolbar .scale") ? ".of-classes" : ".of-numbers");
  const valueOf = (id) => (isHidden(byId(id)) ? "" : byId(id).value);
  const percent = (id, usual) => {
    const value = valueOf(id) === "" ? usual : Number(byId(id).value);
    return Math.min(100, Math.max(0, value || 0));
  };
  const isOn = (id) => byId(id).getAttribute("aria-pressed") === "true";

  const range = () => {
    const [from, to] = ["filter-from", "filter-to"].map((id) => valueOf(id).trim().replace(",", "."));
    return from || to ? "range:" + from + ":" + to : "";
  };

  function query() {
    const state = grid.getColumnState().filter((column) => column.sort);
    state.sort((a, b) => (a.sortIndex || 0) - (b.sortIndex || 0));
    return {
      search: byId("search").value,
      given: byId("filter-given").value,
      predicted: valueOf("filter-predicted") || range(),
      low: percent("filter-low", 0),
      high: percent("filter-high", 100),
      wrong: isOn("filter-wrong"),
      flagged: isOn("filter-flagged"),
      sort: state.map((column) => [column.colId, column.sort]),
    };
  }

  let timer = null;
  function later(what, pause) {
    window.clearTimeout(timer);
    timer = window.setTimeout(what, pause);
  }

  function search() {
    if (!grid) return;
    asked += 1;
    grid.ensureIndexVisible(0);
    grid.purgeInfiniteCache();
  }

  document.addEventListener("input", (event) => event.target.closest(".filters") && later(search, PAUSE));
  here.filter = (button) => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    button.classList.toggle("on", on);
    search();
  };
  here.found = () => grid && send("found", { query: query() });

  // -- rows ------------------------------------------------------------------------------------------------------

  async function fetchRows(block) {
    const mine = asked;
    const body = { client: byId("client").dataset.client, start: block.startRow, end: block.endRow, query: query() };
    let answer = null;
    try {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch("rows", { method: "POST", headers, body: JSON.stringify(body) });
      if (response.ok) answer = await response.json();
    } catch (problem) {
      // The program was stopped; the page says so when it looks for it.
    }
    if (answer === null || mine !== asked) return block.failCallback();
    block.successCallback(answer.rows, answer.found);
    byId("found").textContent = answer.found.toLocaleString("en") + " of " + answer.of.toLocaleString("en") + " rows";
    return follow();
  }

  // Boxes follow the selection of the page, wherever it was made.
  function follow() {
    isFollowing = true;
    grid.forEachNode((node) => node.id !== undefined && node.setSelected(chosen.has(Number(node.id))));
    isFollowing = false;
  }

  function select(event) {
    if (isFollowing || event.source === "api") return;
    grid.forEachNode((node) => {
      if (node.data && node.isSelected()) chosen.add(Number(node.id));
      else if (node.data) chosen.delete(Number(node.id));
    });
    send("rows", { points: Array.from(chosen) });
  }

  const open = (event) => event.data && send("row", { value: Number(event.data.id) });

  async function start() {
    if (isStarting) return isStale && refresh();
    isStarting = true;
    grid = await window.dash_ag_grid.getApiAsync("grid");
    grid.addEventListener("selectionChanged", select);
    grid.addEventListener("cellClicked", (event) => event.column.getColId().startsWith("ag-Grid") || open(event));
    grid.addEventListener("cellKeyDown", (event) => event.event.key === "Enter" && open(event));
    // Our own, and not that of Dash: several blocks can be on their way at once, and each is answered for itself.
    return grid.setGridOption("datasource", { getRows: fetchRows });
  }

  function refresh() {
    isStale = false;
    grid.refreshInfiniteCache();
  }

  let flags = null;
  shown.push((answer) => {
    if (answer.selected) chosen = new Set(answer.selected);
    if (answer.columns) setProps("grid", { columnDefs: answer.columns });
    if (!grid) return;
    if (answer.selected) follow();
    if (answer.columns) return search();
    if (!answer.state && answer.marks.flags === flags) return;
    flags = answer.marks.flags;
    isStale = true;
    if (isTable()) later(() => isStale && refresh(), PAUSE); // after what a person waits for
  });

  // The page is built by a script, so it is not there yet.
  const wait = window.setInterval(() => {
    if (!document.querySelector(".views") || !window.dash_ag_grid) return;
    window.clearInterval(wait);
    view(remembered());
  }, 50);
})();
