// Autocomplete field for an active account of the server.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { useMemo, useState } from "react";
import type { User } from "../../protocol/rest.ts";
import { PeopleFound, labelOf } from "../../ui/PeopleFound.tsx";
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
      <PeopleFound isEmpty={items.length === 0} />
    </Autocomplete.Root>
  );
}
