// Open dialogs have an entry of the history each, so that the back button of a phone closes the topmost one.

const open: (() => void)[] = [];
let ownBacks = 0; // entries that are being removed because their dialog was closed otherwise

addEventListener(
  "popstate",
  () => {
    if (ownBacks > 0) ownBacks--;
    else open.pop()?.();
  },
  { capture: true },
);

// Adds an entry for a dialog. Returns a function for when it is gone.
export function pushSheet(close: () => void): () => void {
  open.push(close);
  history.pushState({ ...history.state, sheet: true }, "");
  return () => {
    const index = open.indexOf(close);
    if (index < 0) return; // the back button has closed it
    open.splice(index, 1);
    // Later, because what closes a dialog may go to another page, which takes the place of its entry.
    setTimeout(() => {
      if (!history.state?.sheet) return;
      ownBacks++;
      history.back();
    });
  };
}
