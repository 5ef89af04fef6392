/* What happens in the browser: events go to the server in order, keys are read, files are sent. No state of labels. */
(function () {
  "use strict";

  let number = 0; // of the last event
  let pending = []; // events that the server has not confirmed
  let shown = null; // which state of the labels this page shows
  let running = null; // which run of the program answers
  let marks = null; // of the parts that this page shows
  let weight = null; // where the last answer has the slider
  let position = null; // where it is
  let isAsking = false;

  document.documentElement.lang = "en";

  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const byId = (id) => document.getElementById(id);
  const setProps = (id, props) => window.dash_clientside.set_props(id, props);

  function send(act, more) {
    number += 1;
    pending.push(Object.assign({ act: act, number: number }, more || {}));
    document.body.setAttribute("aria-busy", "true"); // at once for programs that read the page; eyes see it later
    post();
  }

  // All unconfirmed events go together: the server knows their numbers, and counts none of them twice. One request at a
  // time: answers come in their order, and each is built on the one before. What is not answered is sent again (look).
  async function post() {
    if (isAsking) return;
    isAsking = true;
    window.setTimeout(showBusy, 250);
    const client = byId("client").dataset.client;
    const asked = { client, events: pending, shown, marks, dark: darkness.matches };
    const sent = pending.length ? pending[pending.length - 1].number : 0;
    let answer = null;
    try {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch("events", { method: "POST", headers, body: JSON.stringify(asked) });
      if (response.ok) answer = await response.json();
    } catch (problem) {
      // The program was stopped.
    }
    isAsking = false;
    document.body.classList.toggle("lost", answer === null);
    if (answer === null) return;
    show(answer, client);
    if (pending.length && pending[pending.length - 1].number > sent) post();
  }

  // First what a person waits for. The map and the lists, which take longer, when that is on the screen.
  function show(answer, client) {
    pending = pending.filter((event) => event.number > answer.last);
    showBusy();
    ({ marks, weight } = answer);
    Object.keys(answer.parts).forEach((id) => window.semikpcaFill(byId(id), answer.parts[id]));
    byId("page").className = answer.page;
    if (answer.state && shown && shown[0] !== answer.state[0]) document.body.classList.remove("opening");
    if (answer.state) shown = answer.state;
    if (answer.find) find();
    if (byId("queue")) byId("queue").value = byId("queue").dataset.chosen;
    if (answer.selected) document.body.classList.toggle("row-open", answer.selected.length > 0);
    window.semikpca.shown.forEach((follow) => follow(answer));
    if (!pending.length) document.dispatchEvent(new Event("semikpca-shown"));
    if (answer.waits) window.setTimeout(() => pending.length || send("refresh"), 400); // a table is on its way
    window.requestAnimationFrame(() => window.setTimeout(() => {
      if (position !== weight) setProps("slider", { value: weight });
      if (answer.figure) setProps("map", { figure: answer.figure });
      if (answer.state) setProps("state", { data: answer.state });
      setProps("repaint", { data: { client, event: answer.last } });
    }, 0));
  }

  window.semikpcaSend = send;

  function showBusy() {
    if (!pending.length) document.body.removeAttribute("aria-busy");
    document.body.classList.toggle("busy", pending.length > 0);
  }

  // For the other files of the page: how to send events, and whom to tell of answers.
  window.semikpca = { send, setProps, shown: [], here: {} };

  const noUpdate = () => window.dash_clientside.no_update;

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    semikpca: {
      lassoed: function (data) {
        if (data && data.points) {
          const points = data.points.filter((point) => point.curveNumber === 0).map((point) => point.pointIndex);
          if (points.length) send("pick", { points: points });
          setProps("map", { selectedData: null });
        }
        return noUpdate();
      },
      slid: function (moved) {
        position = moved;
        if (moved !== null && moved !== weight) send("weight", { value: moved });
        return noUpdate();
      },
      shared: function (moved) {
        if (moved !== null) send("share", { value: moved });
        return noUpdate();
      },
      listed: function (lists) {
        const { queues, ...parts } = lists;
        Object.keys(parts).forEach((id) => window.semikpcaFill(byId(id), parts[id]));
        Object.keys(queues).forEach((name) => {
          const option = document.querySelector('#queue option[value="' + name + '"]');
          if (option) window.semikpcaFill(option, queues[name]);
        });
        return noUpdate();
      },
      shown: function (state) {
        if (shown === null) {
          weight = position = Number(byId("client").dataset.slider);
          window.setTimeout(send, 0, "refresh"); // for all parts, and a map for a dark page
        }
        shown = state;
        return noUpdate();
      },
    },
  });

  // -- which labels can be accepted unseen ------------------------------------------------------------------------

  let isFinding = false;

  // It takes long, so it goes apart from the events: clicks are answered meanwhile.
  async function find() {
    if (isFinding) return;
    isFinding = true;
    let answer = null;
    try {
      const response = await fetch("acceptance", { method: "POST" });
      if (response.ok) answer = await response.json();
    } catch (problem) {
      // The program was stopped; the page says so when it looks for it.
    }
    isFinding = false;
    if (answer && answer.error) send("refused", { value: answer.error });
    else if (answer) send("refresh");
  }

  // -- clicks on the map -----------------------------------------------------------------------------------------

  const REACH = 20; // pixels: a click this close to a row means it
  const STILL = 5; // pixels: what moves less is a click, and not a drag
  let pressedAt = null;

  // Plotly's own click event names the row that was last hovered over, which is another one while the map is being
  // redrawn. The place of the click itself cannot be out of date.
  function rowAt(event) {
    const graph = document.querySelector("#map .js-plotly-plot");
    const { xaxis, yaxis } = graph._fullLayout;
    const box = graph.getBoundingClientRect();
    const left = event.clientX - box.left - xaxis._offset;
    const top = event.clientY - box.top - yaxis._offset;
    const { x, y } = graph.data[0];
    let best = null;
    let least = REACH;
    for (let i = 0; i < x.length; i += 1) {
      const distance = Math.hypot(xaxis.l2p(x[i]) - left, yaxis.l2p(y[i]) - top);
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  function press(event) {
    pressedAt = [event.clientX, event.clientY];
  }
  document.addEventListener("pointerdown", press, true);

  document.addEventListener("click", function (event) {
    if (!event.target.closest("#map .nsewdrag") || !pressedAt) return;
    if (Math.hypot(event.clientX - pressedAt[0], event.clientY - pressedAt[1]) > STILL) return;
    const row = rowAt(event);
    if (row !== null) send("pick", { points: [row] });
  });

  // -- buttons -------------------------------------------------------------------------------------------------

  const here = {
    help: help,
    open: () => document.body.classList.add("opening"),
    close: () => document.body.classList.remove("opening"),
    browse: browse,
    "add-class": addClass,
    ...window.semikpcaState.here(send),
  };

  document.addEventListener("click", function (event) {
    const button = event.target.closest("[data-act]");
    if (event.target.id === "help") help();
    if (!button || button.disabled) return;
    const { act, value, queue, name } = button.dataset;
    const local = here[act] || window.semikpca.here[act];
    if (local) local(button);
    else send(act, { value: value || "", new: button.dataset.new || "", queue: queue || "", name: name || "" });
  });

  // The focus goes into the dialog with the reader, and back to where it was.
  let before = null;
  function help() {
    const helping = document.body.classList.toggle("helping");
    if (helping) before = document.activeElement;
    const goal = helping ? document.querySelector("#help [role=dialog]") : before;
    if (goal) goal.focus();
  }

  document.addEventListener("change", function (event) {
    if (event.target.id === "queue") send("queue", { value: event.target.value });
  });

  // The next queue that has a row, or the one before.
  function turn(by) {
    const choice = byId("queue");
    const names = Array.from(choice.options, (option) => option.value);
    const isEmpty = (name) => choice.options[names.indexOf(name)].text.endsWith("(0)");
    let place = names.indexOf(choice.value);
    do place = (place + by + names.length) % names.length;
    while (isEmpty(names[place]) && names[place] !== choice.value);
    choice.value = names[place];
    send("queue", { value: names[place] });
  }

  function addClass() {
    const input = byId("new-class");
    if (!input.value.trim()) return input.focus();
    send("add-class", { value: input.value });
    setProps("new-class", { value: "" });
  }

  // -- keys ----------------------------------------------------------------------------------------------------

  const keys = {
    n: () => send("step", { value: 1 }),
    p: () => send("step", { value: -1 }),
    ArrowRight: () => send("step", { value: 1 }),
    ArrowLeft: () => send("step", { value: -1 }),
    s: () => send("skip"),
    b: () => send("back"),
    f: () => send("flag"),
    g: () => send("goes-on"),
    q: () => turn(1),
    Q: () => turn(-1),
    a: () => send("find"),
    d: () => send("draw"),
    v: () => send("review", { value: 1 }),
    V: () => send("review", { value: -1 }),
    u: () => send("undo"),
    r: () => send("redo"),
    x: () => send("remove"),
    Delete: () => send("remove"),
    l: toggleLasso,
    "?": here.help,
    Escape: escape,
    c: here["focus-class"],
  };

  // Keys with which one moves in a list, a table or a slider: they belong to it while it has the focus.
  const MOVES = /^(Arrow.*|Home|End|Page.*|Enter| |Tab)$/;

  function escape() {
    if (window.semikpcaState.isOpen()) return send("dialog", { value: "" });
    if (document.body.classList.contains("helping")) return here.help();
    if (document.body.classList.contains("opening")) return here.close();
    send("clear");
  }

  function toggleLasso() {
    const graph = document.querySelector("#map .js-plotly-plot");
    const lasso = graph._fullLayout.dragmode === "lasso";
    const button = graph.querySelector('.modebar-btn[data-val="' + (lasso ? "pan" : "lasso") + '"]');
    if (button) button.click();
  }

  document.addEventListener("keydown", function (event) {
    const target = event.target;
    if (target.id === "new-class" && event.key === "Enter") return addClass();
    if (target.closest("input, textarea") && event.key === "Escape") return target.blur();
    if (target.closest("input, textarea")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key.toLowerCase() === "z" && !event.altKey) {
        event.preventDefault();
        send(event.shiftKey ? "redo" : "undo");
      }
      return;
    }
    if (target.closest('[role="slider"], select, .ag-root') && MOVES.test(event.key)) return;
    if (!byId("page") || byId("page").className !== "working") return;
    if (document.body.classList.contains("helping") && !["?", "Escape"].includes(event.key)) return;
    const local = keys[event.key] || window.semikpca.here[event.key];
    if (/^[0-9]$/.test(event.key)) {
      event.preventDefault();
      send("label", { value: (Number(event.key) + 9) % 10, name: window.semikpcaState.classOf(event.key) });
    } else if (local) {
      event.preventDefault();
      local();
    } else if (target.closest("select")) {
      event.preventDefault(); // else a letter that is no key here would choose another queue
    }
  });

  // -- files ---------------------------------------------------------------------------------------------------

  function browse() {
    const input = document.createElement("input");
    input.type = "file";
    input.addEventListener("change", () => input.files.length && upload(input.files[0]));
    input.click();
  }

  async function upload(file) {
    const limit = Number(byId("client").dataset.limit);
    if (file.size > limit * 1e6) {
      return send("refused", {
        value: file.name + " has " + (file.size / 1e6).toFixed(1) + " MB and is over the limit of " + limit +
          " MB. Start the page with this file, semikpca app FILE: then there is no limit.",
      });
    }
    document.body.classList.add("busy");
    try {
      const answer = await fetch("upload?name=" + encodeURIComponent(file.name), { method: "POST", body: file });
      const error = (await answer.json()).error;
      if (error) send("refused", { value: error });
      else send("refresh");
    } catch (problem) {
      send("refused", { value: "The file could not be sent: " + problem.message });
    }
  }

  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    if (event.dataTransfer.files.length) upload(event.dataTransfer.files[0]);
  });

  darkness.addEventListener("change", () => send("refresh"));

  // Dash gives the handle of a slider no name; it has that of the group around it.
  const naming = window.setInterval(() => {
    const handles = document.querySelectorAll('[role="group"][aria-label] [role="slider"]');
    handles.forEach((handle) => handle.setAttribute("aria-label", handle.closest("[aria-label][role=group]").ariaLabel));
    if (handles.length === 2) window.clearInterval(naming);
  }, 100);

  // -- other tabs, and a program that was stopped ---------------------------------------------------------------

  async function look() {
    try {
      const answer = await fetch("state");
      if (answer.status === 403) return window.location.reload(); // a new token: the server says what to do
      const now = await answer.json();
      document.body.classList.remove("lost");
      if (running && running !== now.running) return window.location.reload();
      running = now.running;
      if (pending.length) {
        post(); // an answer that never came
      } else if (shown && (shown[0] !== now.state[0] || shown[1] !== now.state[1])) {
        send("refresh");
      }
    } catch (problem) {
      document.body.classList.add("lost");
    }
  }

  look(); // at once: a program that is started again in the first seconds is known by it
  window.setInterval(() => document.visibilityState === "visible" && look(), 2000);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look());
})();
