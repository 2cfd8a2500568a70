// What the browser keeps for this page: colours, questions asked, the token of the session. All of it may fail.

/** What was kept under a name, or what is given instead. */
export function kept(name, instead) {
  try {
    const found = localStorage.getItem(`spanwise.${name}`);
    return found === null ? instead : JSON.parse(found);
  } catch {
    return instead;
  }
}

/** Keep a value; false where the browser keeps nothing. */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(`spanwise.${name}`);
    else localStorage.setItem(`spanwise.${name}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

let remembered = "";

/** The token, for as long as the tab is open. */
export function token() {
  try {
    return remembered || sessionStorage.getItem("spanwise.token") || "";
  } catch {
    return remembered;
  }
}

export function keepToken(value) {
  remembered = value;
  try {
    sessionStorage.setItem("spanwise.token", value);
  } catch {
    // Then it is known until the page is loaded again.
  }
}
