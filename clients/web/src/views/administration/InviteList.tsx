// Invites people by a CSV list, and shows the result of each line with its link.
import { Check, Copy, Download, FileUp } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { saveAs } from "../../app/files/download.ts";
import { type Session, isNotProved } from "../../app/session/session.ts";
import type { InvitedPeople, User } from "../../protocol/rest.ts";
import { Problem } from "../../transport/rest.ts";
import { type ListRow, linksCsv, linksText, readList, rowsOf, textOf, wrongLines, wrongRows } from "./inviteList.ts";
import { oneTimeLink } from "./people.ts";
import { countWords } from "./words.ts";

interface Props {
  session: Session;
  added: (users: readonly User[]) => void;
  fail: (words: string | undefined) => void;
}

const EXAMPLE = "login,name,workspaces,admin\nann,Ann Berg,Lab;Teaching:viewer,\nbo,Bo Dahl,Lab,yes";

export function InviteList({ session, added, fail }: Props) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const [rows, setRows] = useState<ListRow[]>();
  const picker = useRef<HTMLInputElement>(null);
  const take = (next: string) => {
    setText(next);
    setProblem(undefined);
  };
  const choose = async (file: File | undefined) => {
    if (!file) return;
    const content = textOf(await file.arrayBuffer());
    if (content === undefined) setProblem("This file isn’t UTF-8. Save the list as CSV in UTF-8.");
    else take(content);
  };
  const send = async () => {
    const answer = await (
      await session.deciding()
    ).send("/api/users/invited", {
      method: "POST",
      headers: { "content-type": "text/csv" },
      body: text,
    });
    const result = (await answer.json()) as InvitedPeople;
    setRows(rowsOf(result));
    added(result.invited.map(({ user }) => user));
    setText("");
  };
  const invite = async (event: FormEvent) => {
    event.preventDefault();
    const list = readList(text);
    setProblem(list.problem);
    if (list.problem) return;
    setIsBusy(true);
    fail(undefined);
    setRows(undefined);
    await send().catch((failure: unknown) => {
      const wrong = failure instanceof Problem ? wrongRows(wrongLines(failure.body), list) : [];
      if (wrong.length > 0) setRows(wrong);
      else if (!isNotProved(failure)) setProblem((failure as Error).message);
    });
    setIsBusy(false);
  };
  return (
    <section className="stack tight invite-list" aria-label="Many people">
      <h3>Many people</h3>
      <form className="stack" onSubmit={(event) => void invite(event)}>
        <label className="stack tight">
          <span className="quiet small">
            A CSV list. Its first line names the columns: login (required), name, email, workspaces (separated by semicolons, each
            with a role such as Lab:viewer if not editor), admin (yes or no). People who have an account stay as they are.
          </span>
          <span className="hidden">List</span>
          <textarea
            className="field mono"
            rows={5}
            value={text}
            placeholder={EXAMPLE}
            spellCheck={false}
            onChange={({ target }) => take(target.value)}
          />
        </label>
        {problem && (
          <p className="error" role="alert">
            {problem}
          </p>
        )}
        <div className="row">
          <button className="button primary" disabled={isBusy}>
            {isBusy ? "Creating…" : "Create invitations"}
          </button>
          <button type="button" className="button" onClick={() => picker.current?.click()}>
            <FileUp size={15} aria-hidden /> Choose file
          </button>
          <input
            ref={picker}
            type="file"
            accept=".csv,text/csv,text/plain"
            hidden
            aria-label="CSV file"
            onChange={({ target }) => {
              void choose(target.files?.[0]);
              target.value = "";
            }}
          />
        </div>
      </form>
      {rows && <Results rows={rows} fail={fail} />}
    </section>
  );
}

function Results({ rows, fail }: { rows: ListRow[]; fail: Props["fail"] }) {
  const [isCopied, setIsCopied] = useState(false);
  const count = rows.filter(({ state }) => state === "invited").length;
  const copy = () =>
    navigator.clipboard.writeText(linksText(rows, oneTimeLink)).then(
      () => setIsCopied(true),
      () => fail("Copying isn’t allowed. Save the links as CSV."),
    );
  const save = () => saveAs(new Response(linksCsv(rows, oneTimeLink)), "Invitations.csv");
  return (
    <div className="made">
      <p role="status">{summary(rows, count)}</p>
      {count > 0 && (
        <div className="row">
          <button className="button" onClick={() => void copy()}>
            {isCopied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />} {isCopied ? "Copied" : "Copy all links"}
          </button>
          <button className="button" onClick={() => void save()}>
            <Download size={15} aria-hidden /> Save as CSV
          </button>
          <span className="quiet small">You won’t see the links again.</span>
        </div>
      )}
      <table className="accounts-table small">
        <thead>
          <tr>
            <th scope="col" className="number">
              Line
            </th>
            <th scope="col">Login</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.line}>
              <td className="number">{row.line}</td>
              <th scope="row">{row.login || "–"}</th>
              <td className={row.state === "wrong" ? "bad" : undefined}>{resultWords(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function summary(rows: readonly ListRow[], count: number): string {
  if (rows.some(({ state }) => state === "wrong")) return "Nobody was invited. Correct these lines and try again.";
  const existing = rows.length - count;
  const others = existing === 0 ? "" : ` ${countWords(existing, "account")} existed already.`;
  return `${countWords(count, "person was", "people were")} invited.${others}`;
}

function resultWords(row: ListRow): string {
  if (row.state === "wrong") return row.message.charAt(0).toUpperCase() + row.message.slice(1);
  return row.state === "invited" ? "Invited" : "Has an account already";
}
