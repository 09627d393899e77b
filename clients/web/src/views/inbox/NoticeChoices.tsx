// Choices about notices: topics and channels, the address for mail, webhooks, and deliveries that failed.
import { useCallback, useEffect, useState } from "react";
import { type Session, isNotProved } from "../../app/session/session.ts";
import { ago } from "../../app/words/words.ts";
import type { NoticeSettings } from "../../protocol/rest.ts";
import { Webhooks } from "./Webhooks.tsx";

const TOPICS = [
  ["call_waits", "An approval waits for you"],
  ["mentioned", "You are mentioned"],
  ["run_ended", "A long run succeeds"],
  ["run_failed", "A long run fails or is lost"],
  ["agent_gone", "An agent is gone"],
  ["cap_reached", "A spending cap is reached"],
  ["schedule_failed", "A scheduled run fails"],
  ["schedule_missed", "A scheduled run is missed"],
] as const;

const CHANNELS = [
  ["inbox", "Inbox"],
  ["browser", "Browser"],
  ["mail", "Mail"],
  ["webhook", "Webhook"],
] as const;

export type Attempt = (action: () => Promise<void>) => Promise<void>;

export function NoticeChoices({ session }: { session: Session }) {
  const [settings, setSettings] = useState<NoticeSettings>();
  const [error, setError] = useState<string>();
  const attempt: Attempt = useCallback(async (action) => {
    setError(undefined);
    await action().catch((failure: unknown) => {
      if (!isNotProved(failure)) setError((failure as Error).message);
    });
  }, []);
  const load = useCallback(
    () => attempt(async () => setSettings(await session.rest.get<NoticeSettings>("/api/notices/settings"))),
    [session, attempt],
  );
  useEffect(() => void load(), [load]);
  const change = (body: object) =>
    attempt(async () => setSettings(await (await session.deciding()).json("PUT", "/api/notices/settings", body)));
  return (
    <section className="stack tight notice-choices" aria-label="Notices">
      <h3>Notices</h3>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      {settings && (
        <>
          <Topics settings={settings} change={change} />
          <Mail session={session} settings={settings} attempt={attempt} load={load} />
          <Webhooks session={session} attempt={attempt} />
          <Failed settings={settings} />
        </>
      )}
    </section>
  );
}

interface TopicsProps {
  settings: NoticeSettings;
  change: (body: object) => Promise<void>;
}

function Topics({ settings, change }: TopicsProps) {
  return (
    <>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span className="hidden">Topic</span>
              </th>
              {CHANNELS.map(([channel, words]) => (
                <th scope="col" key={channel}>
                  {words}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {TOPICS.map(([topic, words]) => (
              <tr key={topic}>
                <th scope="row">{words}</th>
                {CHANNELS.map(([channel, name]) => (
                  <td key={channel}>
                    <input
                      type="checkbox"
                      aria-label={`${words}: ${name}`}
                      checked={settings.topics[topic]?.[channel] ?? false}
                      onChange={({ target }) => void change({ topics: { [topic]: { [channel]: target.checked } } })}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <label className="row">
        A run is long after{" "}
        <input
          className="field short"
          type="number"
          min={5}
          max={86_400}
          defaultValue={settings.long_run_seconds}
          onBlur={({ target }) => {
            const seconds = target.valueAsNumber;
            if (target.validity.valid && seconds !== settings.long_run_seconds) void change({ long_run_seconds: seconds });
          }}
        />{" "}
        seconds
      </label>
      <p className="quiet small">
        Browser: a notification while a page is open, if this browser allows it. Mail and webhooks need an address below.
      </p>
    </>
  );
}

interface MailProps {
  session: Session;
  settings: NoticeSettings;
  attempt: Attempt;
  load: () => Promise<void>;
}

function Mail({ session, settings: { mail }, attempt, load }: MailProps) {
  const send = (method: string, path: string, body?: object) =>
    attempt(async () => {
      await (await session.deciding()).json(method, path, body);
      await load();
    });
  if (!mail.is_possible) return <p className="quiet small">This server sends no mail.</p>;
  return (
    <>
      {mail.address && (
        <div className="row">
          <span className="grow">
            Mail to <strong>{mail.address}</strong>
          </span>
          <button className="button" onClick={() => void send("DELETE", "/api/notices/mail")}>
            Stop mail
          </button>
        </div>
      )}
      {mail.new_address ? (
        <form
          className="row"
          action={(form) => void send("POST", "/api/notices/mail/confirm", { code: String(form.get("code") ?? "") })}
        >
          <label className="grow row">
            Code sent to {mail.new_address}
            <input className="field short" name="code" inputMode="numeric" autoComplete="one-time-code" required />
          </label>
          <button className="button">Confirm</button>
        </form>
      ) : (
        <form
          className="row"
          action={(form) => void send("POST", "/api/notices/mail", { address: String(form.get("address") ?? "") })}
        >
          <input
            className="field grow"
            type="email"
            name="address"
            aria-label="Address for mail"
            placeholder={mail.address ? "Another address" : "Address for mail"}
            autoComplete="email"
            required
          />
          <button className="button">Send code</button>
        </form>
      )}
    </>
  );
}

function Failed({ settings: { failed } }: { settings: NoticeSettings }) {
  if (failed.length === 0) return null;
  return (
    <details>
      <summary>{failed.length === 1 ? "1 notice didn’t arrive" : `${failed.length} notices didn’t arrive`}</summary>
      <ul className="plain">
        {failed.map(({ notice, channel, at, problem }) => (
          <li key={notice + channel} className="small">
            {channel === "mail" ? "Mail" : "Webhook"}, {ago(at)}: {problem}
          </li>
        ))}
      </ul>
    </details>
  );
}
