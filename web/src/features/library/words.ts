// Values and fields of filters as people read them.
import type { FieldInfo } from 'foyer-client';
import * as m from '#messages/library.ts';

const VALUES: Readonly<Record<string, (value: string) => string>> = {
  resolution: (value) => value.toUpperCase(),
  decade: (value) => m.decade({ year: value }),
};

export const valueText = (field: string, value: string): string => VALUES[field]?.(value) ?? value;

const OWN: Readonly<Record<string, () => string>> = {
  unwatched: m.unwatched,
  in_progress: m.begun,
  favorite: m.favorites,
};

/** Conditions on the person's own state, which have texts of their own. */
export const ownFields: readonly string[] = Object.keys(OWN);

export const fieldText = ({ name, label }: Pick<FieldInfo, 'name' | 'label'>): string => OWN[name]?.() ?? label;
