// Filter text of lists: field:op:value;… with escapes by a backslash, as the server reads it.

export interface Condition {
  field: string;
  op: string;
  values: readonly string[];
}

/** Splits at each unescaped mark; the pieces keep their escapes. */
function splitAt(text: string, mark: string): string[] {
  const pieces: string[] = [];
  let begin = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === mark) {
      pieces.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  return [...pieces, text.slice(begin)];
}

const plain = (text: string): string => text.replace(/\\([;,:\\])/g, '$1');
const marked = (text: string): string => text.replace(/[;,:\\]/g, '\\$&');

/** Leaves out malformed conditions. */
export function parseFilter(text: string | null | undefined): Condition[] {
  return splitAt(text ?? '', ';').flatMap((part) => {
    const [field = '', op = '', ...rest] = splitAt(part, ':');
    if (field === '' || op === '' || rest.length === 0) return [];
    return [{ field: plain(field), op, values: splitAt(rest.join(':'), ',').map(plain) }];
  });
}

export const printFilter = (conditions: readonly Condition[]): string =>
  conditions.map(({ field, op, values }) => [marked(field), op, values.map(marked).join(',')].join(':')).join(';');
