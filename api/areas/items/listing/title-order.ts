import type { Call } from '#kernel/endpoint.ts';
import type { SortTable } from '#kernel/sort.ts';

export interface TitleOrder {
  /** BCP 47, for labels. */
  locale: string;
  /** Collation in the database; the root order is the column's own. */
  collation: string;
  /** Index of this order on (library, type, title, id). A scan creates it for the first library in the language. */
  index: string;
}

/** A migration creates a collation for each. */
const OWN_ORDERS = new Set(
  `af ar az be bg bn bs cs cy da el eo es et fa fi fil fr-ca gu he hi hr hu hy is ja ka kk km kn ko lt lv mk ml mr mt my nb pa pl
  ro ru si sk sl sq sr sv ta te th tr uk ur uz vi zh zh-hant`.split(/\s+/),
);

export const ROOT_ORDER: TitleOrder = { locale: 'en', collation: 'foyer_title', index: 'items_by_title' };

const known = new Map<string, TitleOrder>();

/** The order of a BCP 47 language, or the root order. */
export function titleOrder(language: string): TitleOrder {
  const found = known.get(language) ?? orderOf(localeOf(language));
  if (known.size > 1000) known.clear();
  known.set(language, found);
  return found;
}

function orderOf(locale: Intl.Locale | undefined): TitleOrder {
  const names = [
    `${locale?.language}-${locale?.script}`,
    `${locale?.language}-${locale?.region}`,
    locale?.language ?? '',
  ];
  const name = names.map((one) => one.toLowerCase()).find((one) => OWN_ORDERS.has(one));
  if (!name) return ROOT_ORDER;
  const suffix = name.replace('-', '_');
  return { locale: name, collation: `foyer_title_${suffix}`, index: `items_by_title_${suffix}` };
}

/** Adds the script of the language: zh-TW is zh-Hant. */
function localeOf(language: string): Intl.Locale | undefined {
  try {
    const locale = new Intl.Locale(language).maximize();
    return ['no', 'nn'].includes(locale.language) ? new Intl.Locale('nb') : locale;
  } catch {
    return undefined;
  }
}

interface Titled {
  settings: Record<string, unknown>;
}

/** The order of these libraries' titles, or the root order when they differ. */
export function orderOfAll({ deps }: Pick<Call, 'deps'>, libraries: readonly Titled[]): TitleOrder {
  const usual = deps.settings.get('metadata.language') ?? deps.settings.get('server.language');
  const orders = new Map(
    libraries.map(({ settings: { language } }) => {
      const order = titleOrder(typeof language === 'string' ? language : usual);
      return [order.collation, order];
    }),
  );
  const [only] = orders.values();
  return only && orders.size === 1 ? only : ROOT_ORDER;
}

/** `column` of titles in this order. */
export function inOrder(column: string, { collation }: TitleOrder): string {
  return collation === ROOT_ORDER.collation ? column : `(${column} collate ${collation})`;
}

/** The sort `title` of lists of these libraries. */
export function titleSort(call: Pick<Call, 'deps'>, libraries: readonly Titled[]): Pick<SortTable, 'title'> {
  return { title: { column: inOrder('i.sort_title', orderOfAll(call, libraries)), type: 'text', indexed: true } };
}
