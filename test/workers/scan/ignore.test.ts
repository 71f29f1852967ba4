import { expect } from 'chai';
import { isIgnored, readIgnore } from '#workers/scan/walk/ignore.ts';

/** As `git check-ignore` answers. */
const cases: [pattern: string, ignored: string[], kept: string[]][] = [
  ['*.part', ['m.part', 'a/m.part'], ['part', 'm.part.mkv']],
  ['[Ss]ample.mkv', ['Sample.mkv', 'a/sample.mkv'], ['zample.mkv', '[Ss]ample.mkv']],
  ['*.[0-9]', ['f.1'], ['f.x', 'f.12']],
  ['[!a]b', ['bb'], ['ab', '/b']],
  ['[^a]b', ['bb'], ['ab']],
  ['[a-c-e]m', ['bm', '-m', 'em'], ['dm']],
  ['[-a]z', ['-z', 'az'], ['bz']],
  ['a[]b]c', ['a]c', 'abc'], ['a[]b]c']],
  ['[\\]]x', [']x'], ['\\x']],
  ['[[]b', ['[b'], ['b']],
  ['[a', [], ['[a', 'a']],
  ['\\[a]', ['[a]'], ['a']],
  ['[d-ö]x', ['ex', 'öx'], ['üx']],
  ['a\\*b', ['a*b'], ['axb']],
  ['trail\\ ', ['trail '], ['trail']],
  ['trail  ', ['trail'], ['trail ']],
  ['/only', ['only', 'only/x'], ['d/only']],
  ['dir/', ['dir/x', 'q/dir/x'], ['dir']],
  ['**/deep', ['deep', 'q/w/deep'], ['deeper']],
  ['top/**', ['top/x', 'top/x/y'], ['q/top/x']],
  ['a/**/b', ['a/b', 'a/q/w/b'], ['ab']],
  ['\\!bang', ['!bang'], ['bang']],
  ['# a comment', [], ['# a comment']],
];

describe('ignore files', () => {
  /** The content of an ignored folder is never read. */
  const ignores = (lines: readonly string[], path: string): boolean => {
    const sets = [readIgnore('', lines)];
    const parts = path.split('/');
    return parts.some((_, i) => isIgnored(sets, parts.slice(0, i + 1).join('/'), i < parts.length - 1));
  };

  for (const [pattern, ignored, kept] of cases) {
    it(`read ${JSON.stringify(pattern)} as git does`, () => {
      for (const path of ignored) expect(ignores([pattern], path), path).to.equal(true);
      for (const path of kept) expect(ignores([pattern], path), path).to.equal(false);
    });
  }

  it('go by the last line that fits', () => {
    expect(ignores(['*.mkv', '!keep.mkv'], 'keep.mkv')).to.equal(false);
    expect(ignores(['!keep.mkv', '*.mkv'], 'keep.mkv')).to.equal(true);
  });
});
