import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./ui/index.css";
import { type ComponentProps, StrictMode, Suspense, useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { AskAgain } from "./views/account/AskAgain.tsx";
import { Boundary } from "./ui/Broken.tsx";
import { NotebookView, loadFirst } from "./views/notebook/Notebook.tsx";
import { part, promptPart } from "./ui/parts.ts";
import { applySettings, applyTheme } from "./app/session/settings.ts";
import { routeOf, useRoute } from "./app/session/route.ts";
import { Invitation, type Session, TOLD, onLink, resume, signIn } from "./app/session/session.ts";

const SignIn = part(() => import("./views/account/SignIn.tsx"));
const Administration = part(() => import("./views/administration/Administration.tsx"), true);
const list = promptPart(() => import("./views/notebooks/Home.tsx"));

// The server answers while React renders for the first time.
const resumed = resume();
// App tells the error.
resumed.catch(() => undefined);
const first = routeOf(location.hash).name;
if (first === "home") list.load();
if (first === "administration") Administration.load();

/** The list of notebooks, no part of what opening a notebook loads first. */
function Home(props: ComponentProps<NonNullable<ReturnType<typeof list.usePart>>>) {
  const List = list.usePart();
  return List && <List {...props} />;
}

type SignInState = { state: "asking" } | { state: "told" } | { state: "out"; error?: Error } | { state: "in"; session: Session };

function App() {
  const [who, setWho] = useState<SignInState>({ state: "asking" });
  const route = useRoute();

  const now = useRef(who);
  now.current = who;
  const [notice, setNotice] = useState<string>();

  useEffect(() => {
    // The session's requests leave time for the editor, after the first paint.
    if (first === "notebook") requestAnimationFrame(() => setTimeout(loadFirst));
    resumed.then(
      (session) => setWho(session === TOLD ? { state: "told" } : session ? { state: "in", session } : { state: "out" }),
      (error: Error) => setWho({ state: "out", error }),
    );
  }, []);
  // A link opened in this tab: the same person continues in place, another person gets a new session.
  useEffect(() => {
    return onLink((token) => {
      setNotice(undefined);
      signIn(token).then(
        (next) => {
          const before = now.current.state === "in" ? now.current.session : undefined;
          if (before?.isMe(next.me.actor)) return before.renew(next);
          before?.connection.stop();
          setWho({ state: "in", session: next });
        },
        (error: Error) => {
          if (now.current.state === "in" && !(error instanceof Invitation)) setNotice(`${error.message}.`);
          else setWho({ state: "out", error });
        },
      );
    });
  }, []);

  if (who.state === "asking") return <p className="centre quiet">Loading…</p>;
  if (who.state === "told") return <p className="centre quiet">Signed in. You can close this tab.</p>;
  if (who.state === "out")
    return (
      <Suspense>
        <SignIn
          key={who.error?.message}
          error={who.error}
          signedIn={(session) => {
            setNotice(undefined);
            setWho({ state: "in", session });
          }}
        />
      </Suspense>
    );
  const { session } = who;
  const signOut = () => void session.signOut().then(() => setWho({ state: "out" }));
  const again = (next: Session) => setWho({ state: "in", session: next });
  const told = notice !== undefined && (
    <div className="strip warn" role="alert">
      <span className="grow">
        {notice} You are still signed in as {session.me.name}.
      </span>
      <button className="button" onClick={() => setNotice(undefined)}>
        Dismiss
      </button>
    </div>
  );
  if (route.name === "home")
    return (
      <>
        {told}
        <Home session={session} signOut={signOut} />
        <AskAgain session={session} />
      </>
    );
  if (route.name === "administration")
    return (
      <>
        {told}
        <AskAgain session={session} />
        <Suspense>
          <Administration key={session.number} session={session} section={route.section} />
        </Suspense>
      </>
    );
  return (
    <>
      {told}
      <AskAgain session={session} />
      <NotebookView
        key={`${route.id} ${session.number}`}
        session={session}
        id={route.id}
        cell={route.cell}
        panel={route.panel}
        run={route.run}
        at={route.at}
        signedIn={again}
      />
    </>
  );
}

applyTheme();
applySettings();
const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <Boundary what="This page">
        <App />
      </Boundary>
    </StrictMode>,
  );
