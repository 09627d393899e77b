import { expect, test } from "vitest";
import { complaintsIn } from "../../scripts/effects.mjs";

const said = (code: string) => complaintsIn(`function A() { ${code} }`, "a.tsx").length;

test("an effect that returns what is no function that ends it is refused", () => {
  for (const wrong of [
    "useEffect(() => place.current?.scrollIntoView(), []);",
    "useLayoutEffect(() => form.focus(), []);",
    "React.useEffect(() => set(1), []);",
    "useEffect(async () => { await load(); }, []);",
    "useEffect(() => { if (a) return place.current?.scrollIntoView(); }, []);",
    "return <p ref={(node) => node?.scrollIntoView()} />;",
  ])
    expect(said(wrong), wrong).toBe(1);
});

test("what ends an effect, and nothing, are taken", () => {
  for (const right of [
    "useEffect(() => void place.current?.scrollIntoView(), []);",
    "useEffect(() => () => end(), []);",
    "useEffect(() => { const end = listen(); return end; }, []);",
    "useEffect(() => { return store.changed.add(set); }, []);",
    "useEffect(() => { const go = () => { return node.focus(); }; go(); }, []);",
    "return <p ref={(node) => { node?.focus(); }} />;",
    "return <p ref={place} />;",
  ])
    expect(said(right), right).toBe(0);
});
