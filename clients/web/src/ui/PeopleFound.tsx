// Suggestions of a field that names a person: avatar, name and login.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { hueOf, initials } from "../app/words/words.ts";

interface Suggested {
  id: string;
  name: string;
  login?: string | null;
}

/** Names are not unique, so the login is added. */
export function labelOf({ name, login }: Suggested): string {
  return login ? `${name} (${login})` : name;
}

/** The list below the field of an `Autocomplete.Root` whose items are people. */
export function PeopleFound({ isEmpty }: { isEmpty: boolean }) {
  return (
    <Autocomplete.Portal hidden={isEmpty}>
      <Autocomplete.Positioner sideOffset={4} align="start" className="above">
        <Autocomplete.Popup className="menu people-found">
          <Autocomplete.List>
            {(person: Suggested) => (
              <Autocomplete.Item key={person.id} value={person} className="item row">
                <span className={`avatar small peer-hue-${hueOf(person.name)}`} aria-hidden>
                  {initials(person.name)}
                </span>
                <span className="grow" dir="auto">
                  {person.name}
                </span>
                <span className="quiet small">{person.login}</span>
              </Autocomplete.Item>
            )}
          </Autocomplete.List>
        </Autocomplete.Popup>
      </Autocomplete.Positioner>
    </Autocomplete.Portal>
  );
}
