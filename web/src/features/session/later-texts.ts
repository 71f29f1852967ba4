// The texts that the first page never shows. The layout of the pages that show them has this as its `load`.
import { addTexts, language } from '#core/messages/text.ts';
import { later } from '#messages/later.ts';

/** Waits for the layout above, which loads the language. */
export async function loadLaterTexts({ parent }: { parent: () => Promise<unknown> }): Promise<void> {
  await parent();
  const { table } = await later[language() as keyof typeof later]();
  addTexts(table);
}
