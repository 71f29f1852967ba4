// resource.Quantity: `1000m` equals `1`, and `1024Mi` equals `1Gi`.
const QUANTITY = /^([+-]?[0-9]*\.?[0-9]+|[+-]?[0-9]+\.)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]+)?$/;
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** In units of one; undefined for other text. */
export function amountOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const [, digits, suffix = ''] = (typeof value === 'string' && QUANTITY.exec(value)) || [];
  if (digits === undefined) return undefined;
  const binary = suffix.endsWith('i') ? BINARY.indexOf(suffix) : -1;
  if (binary > 0) return Number(digits) * 1024 ** binary;
  const decimal = DECIMAL.indexOf(suffix);
  return decimal >= 0 ? Number(`${digits}e${(decimal - 3) * 3}`) : Number(digits + suffix);
}
