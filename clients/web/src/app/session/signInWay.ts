// Way of signing in that this browser's person uses: a login with a password, or a token. Stored in this browser.
type BrowserStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;
const KEY = "notarium.sign-in";

/** True if the person has a login and a password. */
export function hasLogin(storage: BrowserStorage = localStorage): boolean {
  return storage.getItem(KEY) === "login";
}

export function keepLogin(isLogin: boolean, storage: BrowserStorage = localStorage): void {
  if (isLogin) storage.setItem(KEY, "login");
  else storage.removeItem(KEY);
}
