import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "../ui/index.css";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { AskAgain } from "../views/AskAgain.tsx";
import { Boundary } from "../views/Broken.tsx";
import { Home } from "../views/Home.tsx";
import { NotebookView } from "../views/Notebook.tsx";
import { SignIn } from "../views/SignIn.tsx";
import { applySettings } from "./settings.ts";
import { applyTheme } from "./theme.ts";
import { useRoute } from "./route.ts";
import { type Session, TOLD, resume } from "./session.ts";

type Who = { state: "asking" } | { state: "told" } | { state: "out"; error?: Error } | { state: "in"; session: Session };

function App() {
  const [who, setWho] = useState<Who>({ state: "asking" });
  const route = useRoute();

  useEffect(() => {
    resume().then(
      (session) => setWho(session === TOLD ? { state: "told" } : session ? { state: "in", session } : { state: "out" }),
      (error: Error) => setWho({ state: "out", error }),
    );
  }, []);

  if (who.state === "asking") return <p className="centre quiet">Loading…</p>;
  if (who.state === "told") return <p className="centre quiet">Signed in. You can close this tab.</p>;
  if (who.state === "out") return <SignIn error={who.error} signedIn={(session) => setWho({ state: "in", session })} />;
  const { session } = who;
  const signOut = () => void session.signOut().then(() => setWho({ state: "out" }));
  const again = (next: Session) => setWho({ state: "in", session: next });
  if (route.name === "home")
    return (
      <>
        <Home session={session} signOut={signOut} />
        <AskAgain session={session} />
      </>
    );
  return (
    <>
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
