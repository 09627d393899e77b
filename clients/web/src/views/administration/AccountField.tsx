// Autocomplete field for an active account of the server.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { useMemo, useState } from "react";
import { hueOf, initials } from "../../app/words/words.ts";
import type { User } from "../../protocol/rest.ts";
import { found } from "./people.ts";

/** Suggestions at most. */
const MOST = 10;

interface Props {
  people: readonly User[];
  choose: (user: User | undefined) => void;
}

export function AccountField({ people, choose }: Props) {
  const [text, setText] = useState("");
  const chosen = (value: string) => people.find((user) => labelOf(user) === value);
  const items = useMemo(
    () => (text.trim() === "" ? [] : found(people, text.replace(/[()]/g, " "), "active").slice(0, MOST)),
    [people, text],
  );
  const change = (next: string) => {
    setText(next);
    choose(chosen(next));
  };
  return (
    <Autocomplete.Root items={items} value={text} itemToStringValue={labelOf} filter={null} onValueChange={change}>
      <label className="stack tight">
        Person
        <Autocomplete.Input
          className="field"
          name="person"
          placeholder="Name or login"
          required
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <p className="hidden" role="status">
        {text.trim() !== "" && items.length === 0 && "No results."}
      </p>
      <Autocomplete.Portal hidden={items.length === 0}>
        <Autocomplete.Positioner sideOffset={4} align="start" className="above">
          <Autocomplete.Popup className="menu people-found">
            <Autocomplete.List>
              {(user: User) => (
                <Autocomplete.Item key={user.id} value={user} className="item row">
                  <span className={`avatar small peer-hue-${hueOf(user.name)}`} aria-hidden>
                    {initials(user.name)}
                  </span>
                  <span className="grow" dir="auto">
                    {user.name}
                  </span>
                  <span className="quiet small">{user.login}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}

/** Names are not unique, so the login is added. */
function labelOf({ name, login }: User): string {
  return login ? `${name} (${login})` : name;
}
