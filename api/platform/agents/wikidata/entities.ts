// Entities of Wikidata: their labels and the values of their statements.
import { z } from 'zod';
import { calendarDay } from '../../calendar.ts';
import type { Query } from '../agent.ts';

const Label = z.object({ language: z.string(), value: z.string() });
const Snak = z.object({ datavalue: z.object({ value: z.unknown() }).optional() });
const Statement = z.object({
  rank: z.string().optional(),
  mainsnak: Snak,
  qualifiers: z.record(z.string(), z.array(Snak)).optional(),
});
const Entity = z.object({
  id: z.string(),
  missing: z.unknown().optional(),
  labels: z.record(z.string(), Label).optional(),
  descriptions: z.record(z.string(), Label).optional(),
  aliases: z.record(z.string(), z.array(Label)).optional(),
  claims: z.record(z.string(), z.array(Statement)).optional(),
});
export type Entity = z.output<typeof Entity>;
export const Entities = z.object({ entities: z.record(z.string(), Entity) });

const AT_ONCE = 50;
const ITEM = /^Q\d{1,12}$/;

const codeOf = (language: string): string => language.split('-')[0] ?? 'en';
const languagesOf = (language: string): string => [...new Set([language, codeOf(language), 'en', 'mul'])].join('|');

/** Entities by id, in the order of the ids. */
export async function entitiesOf(
  query: Query,
  ids: readonly string[],
  { language, props }: { language: string; props: string },
): Promise<Entity[]> {
  const found: Entity[] = [];
  const wanted = [...new Set(ids)].filter((id) => ITEM.test(id));
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const part = wanted.slice(at, at + AT_ONCE);
    const answer = await query({
      path: '/w/api.php',
      query: {
        action: 'wbgetentities',
        format: 'json',
        ids: part.join('|'),
        props,
        languages: languagesOf(language),
        maxlag: 5,
      },
      schema: Entities,
    });
    found.push(...part.flatMap((id) => answer?.entities[id] ?? []).filter((one) => one.missing === undefined));
  }
  return found;
}

/** The text in the language, else in English. */
export function textIn(texts: Entity['labels'], language: string): string | undefined {
  const order = [language, codeOf(language), 'en', 'mul'];
  return order.map((code) => texts?.[code]?.value).find((value) => value !== undefined);
}

type Statement = z.output<typeof Statement>;

/** Statements of a property, the preferred ones first; deprecated ones are left out. */
export function statementsOf({ claims }: Entity, property: string): Statement[] {
  const all = (claims?.[property] ?? []).filter(({ rank }) => rank !== 'deprecated');
  const preferred = all.filter(({ rank }) => rank === 'preferred');
  return [...preferred, ...all.filter((one) => !preferred.includes(one))];
}

const valuesOf = (entity: Entity, property: string): unknown[] =>
  statementsOf(entity, property).map((one) => one.mainsnak.datavalue?.value);

/** Ids of entities that a qualifier of a statement names. */
export const qualifierItems = ({ qualifiers }: Statement, property: string): string[] =>
  (qualifiers?.[property] ?? []).flatMap((snak) => idIn(snak.datavalue?.value));

/** The day of a statement whose value is a time of that precision. */
export function dayOf({ mainsnak }: Statement): string | undefined {
  const { time, precision = 11 } = (mainsnak.datavalue?.value ?? {}) as { time?: unknown; precision?: unknown };
  return typeof time === 'string' && precision === 11 && time.startsWith('+') ? calendarDay(time.slice(1)) : undefined;
}

function idIn(value: unknown): string[] {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === 'string' && ITEM.test(id) ? [id] : [];
}

/** Ids of entities that a property names. */
export const itemsOf = (entity: Entity, property: string): string[] => valuesOf(entity, property).flatMap(idIn);

export const textsOf = (entity: Entity, property: string): string[] =>
  valuesOf(entity, property).flatMap((value) => {
    if (typeof value === 'string') return [value];
    const { text } = (value ?? {}) as { text?: unknown };
    return typeof text === 'string' ? [text] : [];
  });

export const amountOf = (entity: Entity, property: string): number | undefined => {
  const [value] = valuesOf(entity, property);
  const amount = Number((value as { amount?: unknown } | undefined)?.amount);
  return Number.isFinite(amount) ? amount : undefined;
};

/** The earliest day or year of a property. Wikidata writes an unknown month or day as 00. */
export function timeOf(entity: Entity, property: string): { day: string | undefined; year: string } | undefined {
  const times = valuesOf(entity, property).flatMap((value) => {
    const { time } = (value ?? {}) as { time?: unknown };
    return typeof time === 'string' && /^\+\d{4}-/.test(time) ? [time.slice(1, 11)] : [];
  });
  const [first] = times.sort();
  return first === undefined ? undefined : { day: calendarDay(first), year: first.slice(0, 4) };
}
