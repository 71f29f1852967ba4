import type { Kind } from './custom-fields.schemas.ts';

/** The typed column of `custom_values` that holds values of each kind. */
export const columnOf = {
  text: 'text_value',
  'long-text': 'text_value',
  url: 'text_value',
  choice: 'text_value',
  choices: 'text_value',
  number: 'number_value',
  duration: 'number_value',
  rating: 'number_value',
  boolean: 'bool_value',
  date: 'date_value',
  person: 'ref_id',
  item: 'ref_id',
} as const satisfies Record<Kind, string>;

/** What each kind may become: every value of the one is a value of the other. */
const wider: Partial<Record<Kind, readonly Kind[]>> = {
  text: ['long-text'],
  choice: ['choices', 'text'],
  number: ['text'],
  rating: ['text'],
  boolean: ['choice'],
};

export const isWider = (from: Kind, to: Kind): boolean => wider[from]?.includes(to) ?? false;

export const isChoice = (kind: Kind): boolean => kind === 'choice' || kind === 'choices';

/** The members of a definition that only some kinds have. */
const members: Readonly<Record<string, readonly Kind[]>> = {
  options: ['choice', 'choices'],
  unit: ['number'],
  decimals: ['number'],
  min: ['number', 'duration', 'rating', 'date'],
  max: ['number', 'duration', 'rating', 'date'],
  maxLength: ['text', 'long-text'],
  targetTypes: ['item'],
};

/** Names of the given members that a field of this kind does not have. */
export function foreignMembers(kind: Kind, given: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(members).flatMap(([name, kinds]) => {
    const value = given[name];
    return value === undefined || value === null || kinds.includes(kind) ? [] : [name];
  });
}

export const LONGEST: Partial<Record<Kind, number>> = { text: 500, 'long-text': 20_000, url: 2000 };
