// Dialog that sets a cap on spending.
import { useState } from "react";
import { type Session, isNotProved } from "../../app/session/session.ts";
import type { CapStatus, User } from "../../protocol/rest.ts";
import { AskAgain } from "../account/AskAgain.tsx";
import { CredentialForm, FieldError } from "../account/CredentialForm.tsx";
import { TitledDialog } from "../../ui/TitledDialog.tsx";
import { AccountField } from "./AccountField.tsx";
import { PERIODS, SPENDERS, amountOf } from "./capWords.ts";
import { useFocusBack } from "./focusBack.ts";

interface Props {
  session: Session;
  people: User[];
  workspaces: ReadonlyMap<string, string>;
  saved: () => void;
  close: () => void;
}

export function NewCap({ session, people, workspaces, saved, close }: Props) {
  useFocusBack();
  const [spender, setSpender] = useState<CapStatus["spender"]>("each_person");
  const [person, setPerson] = useState<User>();
  const [unit, setUnit] = useState("USD");
  const save = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const currency = unit === "tokens" ? unit : text("currency").toUpperCase();
    const amount = amountOf(text("amount"), unit);
    if (spender === "person" && !person) throw new FieldError("person", "Choose a person from the list.");
    if (amount === undefined)
      throw new FieldError(
        "amount",
        unit === "tokens"
          ? "Enter a whole number of tokens."
          : "Enter an amount without separators of thousands, such as 2500 or 5.50.",
      );
    const body = {
      spender,
      ...(spender === "person" && { person: person?.id }),
      ...(spender === "workspace" && { workspace: text("workspace") }),
      period: text("period"),
      unit: currency,
      amount,
    };
    try {
      await (await session.deciding()).json("PUT", "/api/caps", body);
      saved();
      close();
    } catch (failure) {
      if (!isNotProved(failure)) throw failure;
    }
  };
  const kinds = Object.entries(SPENDERS).filter(([kind]) => kind !== "workspace" || workspaces.size > 0);
  return (
    <TitledDialog kind="new-cap" title="Set a cap" end="Cancel" close={close}>
      <CredentialForm button="Set cap" busy="Saving…" second={null} prove={save}>
        <label className="stack tight">
          For
          <select
            className="select"
            value={spender}
            onChange={({ target }) => setSpender(target.value as CapStatus["spender"])}
            autoFocus
          >
            {kinds.map(([kind, words]) => (
              <option key={kind} value={kind}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {spender === "person" && <AccountField people={people} choose={setPerson} />}
        {spender === "workspace" && (
          <label className="stack tight">
            Workspace
            <select className="select" name="workspace">
              {[...workspaces].map(([id, name]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <div className="row fields">
          <label className="stack tight grow">
            Amount
            <input className="field" name="amount" inputMode="decimal" required autoComplete="off" />
          </label>
          <label className="stack tight">
            Unit
            <select className="select" value={unit} onChange={({ target }) => setUnit(target.value)}>
              <option value="USD">Money</option>
              <option value="tokens">Tokens</option>
            </select>
          </label>
          {unit !== "tokens" && (
            <label className="stack tight">
              Currency
              <input
                className="field currency"
                name="currency"
                defaultValue="USD"
                required
                maxLength={3}
                pattern="[A-Za-z]{3}"
                title="Three letters, such as USD"
                autoComplete="off"
                spellCheck={false}
              />
            </label>
          )}
          <label className="stack tight">
            Period
            <select className="select" name="period" defaultValue="month">
              {Object.entries(PERIODS).map(([period, words]) => (
                <option key={period} value={period}>
                  {words}
                </option>
              ))}
            </select>
          </label>
        </div>
        <p className="quiet small">Replaces a cap for the same spender, unit and period. 0 stops assistants.</p>
      </CredentialForm>
      <AskAgain session={session} />
    </TitledDialog>
  );
}
