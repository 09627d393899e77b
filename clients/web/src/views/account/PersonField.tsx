// Autocomplete field for a person to share with: finds visible people by part of the name; other people need the full login.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { useEffect, useState } from "react";
import type { FoundPerson as Found } from "../../protocol/rest.ts";
import type { Rest } from "../../transport/rest.ts";
import { PeopleFound, labelOf } from "../../ui/PeopleFound.tsx";

const ASK_MS = 120;

interface Props {
  rest: Rest;
  /** Ids of people who have access already. */
  known: ReadonlySet<string>;
  text: string;
  /** `id`: the person chosen from the list, if any. */
  choose: (text: string, id: string | undefined) => void;
  /** The text names a person chosen from the list. */
  isChosen: boolean;
}

export function PersonField({ rest, known, text, choose, isChosen }: Props) {
  const [found, setFound] = useState<Found[]>([]);
  /** Text for which the server knows nobody. */
  const [unknown, setUnknown] = useState<string>();
  const asked = text.trim();
  useEffect(() => {
    if (asked === "") return setFound([]);
    let isWanted = true;
    const ask = () =>
      rest.get<Found[]>(`/api/people/matching?text=${encodeURIComponent(asked)}`).then(
        (people) => {
          if (!isWanted) return;
          setFound(people.filter(({ id }) => !known.has(id)));
          setUnknown(people.length === 0 ? asked : undefined);
        },
        // Without suggestions the user types the full login.
        () => isWanted && setFound([]),
      );
    const timer = setTimeout(() => void ask(), ASK_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [rest, known, asked]);
  return (
    <Autocomplete.Root
      items={found}
      value={text}
      itemToStringValue={labelOf}
      filter={null}
      onValueChange={(next) => choose(next, found.find((person) => labelOf(person) === next)?.id)}
    >
      <Autocomplete.Input
        className="field grow"
        placeholder="Name or login"
        aria-label="Name or login of a person"
        required
        autoComplete="off"
        spellCheck={false}
      />
      <p className="quiet small nobody" role="status">
        {unknown === asked && asked !== "" && !isChosen && (
          <>
            No account with this login or name. An administrator creates an invitation with <code>notarium user new</code>; a link
            below needs no account.
          </>
        )}
      </p>
      <PeopleFound isEmpty={found.length === 0} />
    </Autocomplete.Root>
  );
}
