"""Write ``assets/shaders.js`` anew, for another release of Plotly: ``python tests/write_shaders.py``.

The programs are taken from a browser that is allowed to compile them, on a page with predictions and on one without.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "src/semikpca/app/assets/shaders.js"
# Before any script of the page: writes down what Function is called with.
RECORD = """(() => {
    window.recorded = [];
    const make = (target, parts) => {
        if (parts.length > 1) window.recorded.push(parts.map(String));
        return target(...parts);
    };
    window.Function = new Proxy(window.Function, { apply: (target, self, parts) => make(target, parts) });
})();"""
HEAD = """/* Made by tests/write_shaders.py with plotly.js {version}: not to be edited.
   The programs that regl (MIT license) writes as text for Plotly's WebGL map, as code: with them the page needs no
   policy under which texts may become programs. Anything else that is compiled goes the usual way. Where that is a
   program for the map, and forbidden, the page asks for the weaker policy and loads again; see app/_shaders.py. */
(function () {{
  const programs = [
"""
TAIL = """  ];

  const isProgram = (parts) => parts.length > 1 && /^g\\d+$/.test(parts[0]);
  const written = (parts) => "function anonymous(" + parts.slice(0, -1).join(",") + "\\n) {\\n" + parts.at(-1) + "\\n}";
  const known = new Map(programs.map((program) => [program.toString(), program]));

  async function askForMore() {
    if (window.sessionStorage.getItem("asked-for-more")) return; // it did not help
    window.sessionStorage.setItem("asked-for-more", "1");
    await window.fetch("policy", { method: "POST" });
    window.location.reload();
  }

  window.Function = new Proxy(window.Function, {
    apply: function (target, self, parts) {
      const found = known.get(written(parts));
      if (found) return found;
      try {
        return Reflect.apply(target, self, parts);
      } catch (problem) {
        if (isProgram(parts)) askForMore();
        throw problem;
      }
    },
  });
})();
"""


def script_of(programs, version):
    """Return the content of the file: functions as the browser itself would write the compiled ones."""
    texts = [f"function anonymous({','.join(parts[:-1])}\n) {{\n{parts[-1]}\n}}" for parts in programs]
    return HEAD.format(version=version) + "".join(f"{text},\n" for text in texts) + TAIL


def recorded(browser, serve):
    """Return what a page with predictions and one without compile, and the release of Plotly."""
    found, version = {}, ""
    rows = "\n".join(f"{row % 7},{row * row % 11},{'ab'[row % 2] if row < 6 else ''}" for row in range(40))
    for text in (f"x,y,kind\n{rows}", f"x,y,kind\n{rows.replace('a', '').replace('b', '')}"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.csv"
            file.write_text(text, encoding="utf-8")
            with serve(file, "--label-column", "kind") as url:
                # The policy is left aside, and so are the programs that are there already.
                page = browser.new_context(bypass_csp=True).new_page()
                page.route("**/shaders.js*", lambda route: route.fulfill(body="", content_type="text/javascript"))
                page.add_init_script(RECORD)
                page.goto(url)
                page.wait_for_selector("#suggestions .line")
                page.wait_for_timeout(2_000)
                for parts in page.evaluate("window.recorded"):
                    found[json.dumps(parts)] = parts
                version = page.evaluate("window.Plotly.version")
    return list(found.values()), version


if __name__ == "__main__":
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(Path(__file__).parent / "app"))
    from conftest import served

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as state:
        chromium = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"])
        SCRIPT.write_text(script_of(*recorded(chromium, lambda *about: served(*about, state=state))), encoding="utf-8")
