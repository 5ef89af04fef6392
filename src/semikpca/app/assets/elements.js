/* Components of dash.html as plain elements. Dash would tell every part of the page of every change of any; here a part
   is compared with what stands there, and what is the same stays: the focus, the place of a scrollbar, an open list.
   Texts become text nodes and attributes, never HTML. */
(function () {
  "use strict";

  const NAMES = { className: "class", tabIndex: "tabindex" };
  const known = new WeakMap(); // properties by element

  function fill(parent, children) {
    const wanted = [children].flat(Infinity).filter((child) => child !== null && child !== undefined && child !== "");
    wanted.forEach((child, i) => {
      let found = parent.childNodes[i];
      while (found && !isLike(found, child)) found = found.nextSibling;
      if (!found) return parent.insertBefore(made(child), parent.childNodes[i] || null);
      while (parent.childNodes[i] !== found) parent.removeChild(parent.childNodes[i]);
      return update(found, child);
    });
    while (parent.childNodes.length > wanted.length) parent.removeChild(parent.lastChild);
  }

  const isText = (child) => typeof child !== "object";

  // What kind of thing it is: further classes ("on") say how it stands.
  const kind = (tag, id, classes) => [tag.toUpperCase(), id || "", (classes || "").split(" ")[0]].join(" ");

  function isLike(node, child) {
    if (isText(child)) return node.nodeType === Node.TEXT_NODE;
    const { id, className } = child.props;
    return node.nodeType === Node.ELEMENT_NODE && kind(node.nodeName, node.id, node.className) === kind(child.type, id, className);
  }

  function made(child) {
    const node = isText(child) ? document.createTextNode("") : document.createElement(child.type);
    update(node, child);
    return node;
  }

  function update(node, child) {
    if (isText(child)) {
      if (node.data !== String(child)) node.data = child;
      return;
    }
    const { children, style, ...props } = child.props;
    const before = known.get(node) || {};
    known.set(node, props);
    Object.keys({ ...before, ...props }).forEach((name) => {
      const value = props[name];
      if (value === before[name]) return;
      const attribute = NAMES[name] || name;
      if (value === null || value === undefined || value === false) node.removeAttribute(attribute);
      else node.setAttribute(attribute, value === true ? "" : value);
    });
    if (style || node.style.length) {
      node.removeAttribute("style");
      Object.assign(node.style, style);
    }
    fill(node, children);
  }

  window.semikpcaFill = fill;
})();
