// Kinds and values of tokens.

export const kinds = ['color', 'length', 'duration', 'number', 'easing', 'font', 'shadow', 'weight'] as const;
export type Kind = (typeof kinds)[number];
export const groups = ['color', 'type', 'shape', 'space', 'motion', 'player'] as const;
export type Group = (typeof groups)[number];

/** One layer of a shadow, as stored. */
export interface ShadowLayer {
  x: string;
  y: string;
  blur: string;
  spread: string;
  color: string;
}

/** A value as it is stored and returned: parsed, and printed again. */
export type TokenValue = string | number | ShadowLayer[];
export type TokenSet = Record<string, TokenValue>;

/** Text of a value that is not a shadow. */
export const textOf = (value: TokenValue | undefined): string => (typeof value === 'object' ? '' : String(value ?? ''));
