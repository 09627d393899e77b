// Presence and runs of a notebook in the list.
import { hueOf, initials } from "../../app/words/words.ts";
import { type NotebookNow, nowWords } from "../../app/words/happening.ts";

/** Avatars shown; the rest is a number. */
const SHOWN = 3;

export function Now({ now }: { now: NotebookNow }) {
  const { running, queued, people } = now;
  const words = nowWords(now);
  if (words === "") return null;
  return (
    <span className="now" title={words}>
      <span className="hidden">{words}</span>
      {running + queued > 0 && (
        <span className={running > 0 ? "tag running" : "tag plain"} aria-hidden>
          <span className="word">{running > 0 ? "Running" : "Queued"}</span>
        </span>
      )}
      <span className="faces" aria-hidden>
        {people.slice(0, SHOWN).map(({ name }, index) => (
          <span key={index} className={`avatar small peer-hue-${hueOf(name)}`}>
            {initials(name)}
          </span>
        ))}
        {people.length > SHOWN && <span className="avatar small more">+{people.length - SHOWN}</span>}
      </span>
    </span>
  );
}
