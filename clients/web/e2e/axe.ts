// Findings of axe on a page.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

/** Returns the rules that the page breaks, with the elements. Content of frames is drawn by third-party libraries. */
export async function complaints(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).exclude("iframe").analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}
