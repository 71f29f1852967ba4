// Globs of channel names: `*`, `?` and classes such as [1-3], ignoring case. Names contain dots, braces and brackets,
// so nothing else is special. The time grows only with the length of the name, whatever a playlist calls its channels.

/** One letter of a name, or any number of them. */
type Token = '*' | ((letter: string) => boolean);

export function globMatcher(glob: string): (name: string) => boolean {
  const plain = glob.toLowerCase();
  const tokens = tokensOf(Array.from(plain));
  return (name) => {
    const letters = Array.from(name.toLowerCase());
    return letters.join('') === plain || matches(tokens, letters);
  };
}

function tokensOf(letters: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? '';
    const end = letter === '[' ? letters.indexOf(']', at + 2) : -1;
    if (end > 0) {
      tokens.push(classOf(letters.slice(at + 1, end)));
      at = end;
    } else if (letter === '*') tokens.push('*');
    else tokens.push(letter === '?' ? () => true : (other) => other === letter);
  }
  return tokens;
}

/** A class between brackets. */
function classOf(inner: readonly string[]): (letter: string) => boolean {
  const isNot = inner[0] === '!' || inner[0] === '^';
  const members = isNot ? inner.slice(1) : inner;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] ?? '';
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    ranges.push([from, isRange ? (members[at + 2] ?? '') : from]);
    if (isRange) at += 2;
  }
  return (letter) => ranges.some(([from, to]) => from <= letter && letter <= to) !== isNot;
}

/** Matches as little as possible for each star, and more for the last one if the rest does not match. */
function matches(tokens: readonly Token[], letters: readonly string[]): boolean {
  let [token, at, star, taken] = [0, 0, -1, 0];
  while (at < letters.length) {
    const wanted = tokens[token];
    if (wanted === '*') {
      star = token;
      taken = at;
      token += 1;
    } else if (wanted?.(letters[at] ?? '')) {
      token += 1;
      at += 1;
    } else if (star >= 0) {
      taken += 1;
      token = star + 1;
      at = taken;
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === '*');
}
