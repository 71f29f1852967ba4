import { fittingKind } from '#areas/artwork/public.ts';
import type { ChosenPicture } from '#areas/editing/public.ts';
import type { RefreshedItem } from '#areas/libraries/public.ts';
import type { Gathered } from './gather.ts';

const MOST: Readonly<Record<string, number>> = { backdrop: 5 };

type Offered = Gathered['pictures'][number];

/**
 * The pictures to take of those that agents offer: the best of each kind. Agents go by the order of the library, their
 * pictures by language: that of the library, none, that of the original. Backdrops are without text first.
 */
export function choosePictures(
  { type, settings }: Pick<RefreshedItem, 'type' | 'settings'>,
  offered: readonly Offered[],
  original: string | undefined,
): ChosenPicture[] {
  const language = settings.language.split('-')[0];
  const place = (one: Offered): number => {
    const order = one.kind === 'backdrop' ? [undefined, language, original] : [language, undefined, original];
    return order.indexOf(one.language);
  };
  const order = [...new Set(offered.map(({ agent }) => agent))];
  const ranked = offered
    .filter((one) => place(one) >= 0)
    .sort(
      (a, b) =>
        order.indexOf(a.agent) - order.indexOf(b.agent) ||
        place(a) - place(b) ||
        (b.score ?? 0) - (a.score ?? 0) ||
        (b.votes ?? 0) - (a.votes ?? 0),
    );
  const counts = new Map<string, number>();
  return ranked.flatMap(({ kind: word, url, language: of, agent }): ChosenPicture[] => {
    const kind = fittingKind(type, word);
    if (!kind) return [];
    const count = counts.get(kind) ?? 0;
    if (count >= (MOST[kind] ?? 1)) return [];
    counts.set(kind, count + 1);
    return [{ kind: word, url, agent, ...(of !== undefined && { language: of }) }];
  });
}
