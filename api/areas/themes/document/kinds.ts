// What a token may be.

export const kinds = ['color', 'length', 'duration', 'number', 'easing', 'font', 'shadow', 'weight'] as const;
export type Kind = (typeof kinds)[number];
export const groups = ['color', 'type', 'shape', 'space', 'motion', 'player'] as const;
export type Group = (typeof groups)[number];

/** One layer of a shadow, as it is kept. */
export interface ShadowLayer {
  x: string;
  y: string;
  blur: string;
  spread: string;
  color: string;
}

/** As it is kept and answered: parsed, and printed again. */
export type TokenValue = string | number | ShadowLayer[];
export type TokenSet = Record<string, TokenValue>;

/** Of a value that is no shadow. */
export const textOf = (value: TokenValue | undefined): string => (typeof value === 'object' ? '' : String(value ?? ''));
