// Libraries and items of owner-made types are drawn and played like the built-in type behind them.

interface Typed {
  type: string;
  baseType?: string | undefined;
}

/** The built-in type of a library or an item. */
export const baseOf = ({ type, baseType }: Typed): string => baseType ?? type;
