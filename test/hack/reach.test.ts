// Which test files a change can reach: on a small tree by each way there is, and on this tree by known starts.
import { expect } from 'chai';
import { testFiles, treeOf } from '../../hack/gate/files.ts';
import { testsReached } from '../../hack/gate/reach.ts';

describe('hack/test --changed', () => {
  const texts: Record<string, string> = {
    'api/platform/ids.ts': '',
    'api/platform/migrations/1_a.ts': '',
    'api/platform/thread.ts': `import './ids.ts';`,
    'api/areas/a/public.ts': `export { newId } from '#platform/ids.ts';`,
    'api/areas/b/public.ts': `const thread = new URL('./thread-of-b.ts', import.meta.url);`,
    'api/areas/b/thread-of-b.ts': '',
    'api/main.ts': `import { b } from '#areas/b/public.ts';`,
    'workers/main.ts': '',
    'workers/tuner/main.ts': '',
    'operator/lone.ts': '',
    'operator/words/en.txt': '',
    'hack/start': 'exec node "$root/workers/main.ts"',
    'hack/bench/bench.ts': '',
    'hack/mail/mail.mjml': '',
    'README.md': '',
    'test/support/api.ts': '',
    'test/a.test.ts': `import { a } from '#areas/a/public.ts';`,
    'test/b.test.ts': `import '#support/api.ts'; spawn(node, ['api/main.ts']);`,
    'test/c.test.ts': `const program = \`await import('#areas/a/public.ts')\`;`,
    'test/d.test.ts': `execFile('hack/start')`,
    'test/e.test.ts': 'spawn(`workers/$' + '{name}/main.ts`)',
    'test/f.test.ts': `readdirSync('operator/words'); join(import.meta.dirname, 'f-child.ts')`,
    'test/f-child.ts': '',
    'test/whole.test.ts': `const root = new URL('../', import.meta.url)`,
  };
  const tree = { files: new Set(Object.keys(texts)), read: (path: string) => texts[path] ?? '' };
  const tests = Object.keys(texts).filter((path) => path.endsWith('.test.ts'));
  const reached = (...changed: string[]): string => {
    const files = testsReached(tests, changed, { ...tree, files: new Set([...tree.files, ...changed]) });
    return files.map((file) => file.slice('test/'.length, -'.test.ts'.length)).join(' ');
  };
  const ALL = 'a b c d e f whole';

  const CASES: [change: string, files: string[], tests: string][] = [
    ['a test file', ['test/a.test.ts'], 'a whole'],
    ['a file that is imported through others', ['api/platform/ids.ts'], 'a c whole'],
    ['a program that is started, and what its parts load', ['api/areas/b/thread-of-b.ts'], 'b whole'],
    ['the programs that a script starts', ['workers/main.ts'], 'd e whole'],
    ['a path that is put together', ['workers/tuner/main.ts'], 'e whole'],
    ['a file of a folder that is read', ['operator/words/en.txt'], 'f whole'],
    ['a file that is named alone, next to the test', ['test/f-child.ts'], 'f whole'],
    ['several files', ['test/a.test.ts', 'test/f-child.ts'], 'a f whole'],
    ['a text for people', ['README.md', 'hack/decisions/001-a.md'], 'whole'],
    ['a bench', ['hack/bench/bench.ts'], 'whole'],
    ['a migration', ['api/platform/migrations/1_a.ts'], ALL],
    ['a new migration', ['api/platform/migrations/2_b.ts'], ALL],
    ['the support code of tests', ['test/support/api.ts'], ALL],
    ['the packages', ['package.json'], ALL],
    ['the sources of generated files', ['hack/mail/mail.mjml'], ALL],
    ['a generated file', ['crds/libraries.yaml'], ALL],
    ['the gate', ['hack/gate/lane.ts'], ALL],
    ['a file that nothing names', ['operator/lone.ts'], ALL],
    ['nothing', [], ''],
  ];
  for (const [change, files, expected] of CASES)
    it(`runs the files that ${change} can reach`, () => expect(reached(...files)).to.equal(expected));

  it('finds on this tree the files that are started and read, and leaves out distant ones', () => {
    const all = testFiles({ full: true });
    const from = (...changed: string[]): string[] => testsReached(all, changed, treeOf(changed));
    expect(from('workers/transcode/main.ts')).to.include('test/workers/transcode/worker.test.ts');
    expect(from('api/platform/pictures-child.ts')).to.include('test/platform/pictures.test.ts');
    expect(from('api/main.ts')).to.include.members([
      'test/kernel/pipeline-drain.test.ts',
      'test/faults/drain.slow.test.ts',
    ]);
    expect(from('hack/kube/up.sh')).to.include('test/cluster/library.slow.test.ts');
    expect(from('operator/local/desired.ts')).to.include('test/operator/local-faults.test.ts');
    const few = from('operator/runtime/work-queue.ts');
    expect(few).to.include('test/operator/runtime/work-queue.test.ts');
    expect(few).not.to.include('test/areas/libraries/libraries.test.ts');
    expect(few.length).to.be.lessThan(all.length / 2);
    expect(from('test/areas/libraries/libraries.test.ts')).to.include('test/areas/libraries/libraries.test.ts');
  });
});
