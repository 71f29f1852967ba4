import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkResources } from '#operator/local/checks.ts';
import { parseText, problemText, readDocuments } from '#operator/local/documents.ts';
import { toResources } from '#operator/local/resources.ts';
import { Source } from '#operator/local/source.ts';
import { serverText } from '#support/resource-text.ts';

const SERVER = serverText('media: [{ name: films, hostPath: { path: /films } }]');
const library = (spec: string, name = 'films'): string => `---
apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: ${name} }
spec:
  serverRef: { name: home }
${spec}
`;

function problemsOf(text: string, inForce = new Map<string, unknown>()): string[] {
  const { resources, problems } = toResources(parseText(text, 'home.yaml'));
  return [...problems, ...checkResources(resources, inForce)].map(problemText);
}

describe('resource files', () => {
  it('are read whole, defaults filled', () => {
    const text = `${SERVER}${library('  type: movies\n  folders: [{ media: films }]')}`;
    const { resources, problems } = toResources(parseText(text, 'home.yaml'));
    expect(problems).to.deep.equal([]);
    expect(resources.servers[0]?.spec.transcode).to.include({ warm: 1, max: 4, sessionsPerJob: 3 });
    expect(resources.libraries[0]?.spec.folders).to.deep.equal([{ media: 'films', path: '/' }]);
    expect(resources.libraries[0]?.spec.deletionPolicy).to.equal('Retain');
  });

  it('report every problem at once, with line and path', () => {
    const text = `apiVersion: foyer.media/v1alpha1
kind: MediaServer
metadata: { name: home }
spec:
  colour: red
  api: { replicas: many }
  postgres:
    managed: {}
    secretRef: { name: db }
  redis: {}
  objects: { managed: { storage: 10GG } }
  media:
    - { name: films, hostPath: { path: /x } }
    - { name: films, hostPath: { path: /y } }
  settings:
    scan.concurrent: 99
---
kind: Pod
---
- a list
`;
    expect(problemsOf(text)).to.deep.equal([
      'home.yaml:20 not a resource',
      'home.yaml:6 spec.api.replicas: Invalid input: expected number, received string',
      'home.yaml:7 spec.postgres: exactly one of secretRef, cloudNativePG, managed',
      'home.yaml:10 spec.redis: exactly one of secretRef, managed',
      'home.yaml:11 spec.objects.managed.storage: must be a quantity such as 10Gi',
      'home.yaml:14 spec.media[1].name: duplicate value',
      'home.yaml:16 spec.settings.scan.concurrent: Too big: expected number to be <=16',
      'home.yaml:5 spec.colour: unknown field',
      'home.yaml:18 kind: unknown kind "Pod"',
    ]);
  });

  it('are read as kubectl reads them: Lists, anchors and merges, yes and no, a byte order mark, Windows line ends', () => {
    const list = `\uFEFFapiVersion: v1
kind: List
items:
  - &server
    apiVersion: foyer.media/v1alpha1
    kind: MediaServer
    metadata: { name: home, uid: x, managedFields: [] }
    spec:
      suspend: no
      postgres: { managed: &managed {} }
      redis: { managed: *managed }
      objects: { managed: *managed }
      media: [{ name: films, hostPath: { path: /films } }]
    status: { phase: Running }
  - apiVersion: foyer.media/v1alpha1
    kind: Library
    metadata: { name: films }
    spec: { serverRef: { name: home }, type: movies, scan: &scan { onChange: off } }
  - apiVersion: foyer.media/v1alpha1
    kind: Library
    metadata: { name: more }
    spec: { serverRef: { name: home }, type: movies, scan: { <<: *scan, schedule: 0 5 * * * } }
`;
    for (const text of [list, list.replaceAll('\n', '\r\n')]) {
      const { resources, problems } = toResources(parseText(text, 'home.yaml'));
      expect(problems).to.deep.equal([]);
      expect(resources.servers[0]?.spec.suspend).to.equal(false);
      expect(resources.libraries.map(({ spec }) => spec.scan)).to.deep.equal([
        { onChange: false, schedule: '0 4 * * *' },
        { onChange: false, schedule: '0 5 * * *' },
      ]);
    }
    expect(
      problemsOf(list.replace('type: movies', 'type: films').replace('- &server', '- 7\n  - &server')),
    ).to.deep.equal([
      'home.yaml:4 items[0]: not a resource',
      'home.yaml:19 items[2].spec.type: Invalid string: must match pattern /^(movies|shows|videos|music|photos|books|comics|games|courses|livetv|custom:[a-z0-9-]{1,40})$/',
    ]);
  });

  it('report the YAML faults of each document, and blame nothing on documents that were not read', () => {
    const bomb = `---
a: &a [x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]
d: [*c, *c, *c, *c, *c, *c, *c, *c, *c]
`;
    const text = `${SERVER.replace('redis:', '\tredis:')}${library('  type: movies')}${bomb}---
kind: Secret
metadata: { name: x }
data: !vault here
---
spec: *missing
---
kind: Library
metadata: { name: again, name: twice }
`;
    expect(problemsOf(text).map((line) => line.replace(/ at line .*/, ''))).to.deep.equal([
      'home.yaml:6 Tabs are not allowed as indentation',
      'home.yaml:17 Excessive alias count indicates a resource exhaustion attack',
      'home.yaml:24 Unresolved tag: !vault',
      'home.yaml:26 Unresolved alias (the anchor must be set before the alias): missing',
      'home.yaml:29 Map keys must be unique',
    ]);
  });

  it('name the place of broken YAML', () => {
    expect(problemsOf('a: [1,\nb: 2\n')[0]).to.match(/^home\.yaml:\d+ /);
    expect(problemsOf('spec: 1\nspec: 2\n')[0]).to.match(/^home\.yaml:2 Map keys must be unique/);
  });

  it('refuse one resource twice', () => {
    expect(problemsOf(`${SERVER}${library('  type: movies')}${library('  type: shows')}`)).to.deep.equal([
      'home.yaml:19 metadata.name: Library/films exists already (home.yaml:12)',
    ]);
  });

  it('refuse references to missing resources', () => {
    const text = SERVER.replace('postgres: { managed: {} }', 'postgres: { secretRef: { name: db } }').replace(
      'objects: { managed: {} }',
      'objects: { secretRef: { name: s3 } }',
    );
    const secret =
      '---\napiVersion: v1\nkind: Secret\nmetadata: { name: s3 }\nstringData: { endpoint: "http://s3:9000" }\n';
    const other = library('  type: movies\n  folders: [{ media: attic }]').replace('name: home', 'name: elsewhere');
    expect(
      problemsOf(`${text}${secret}${library('  type: shows\n  folders: [{ media: attic }]', 'tv')}${other}`),
    ).to.deep.equal([
      'home.yaml:21 spec.folders[0].media: no media attic in the MediaServer home (it has films)',
      'home.yaml:27 spec.serverRef.name: no MediaServer elsewhere',
      'home.yaml:5 spec.postgres.secretRef.name: no Secret db',
      'home.yaml:7 spec.objects.secretRef: the Secret s3 has no key accessKey',
      'home.yaml:7 spec.objects.secretRef: the Secret s3 has no key secretKey',
    ]);
  });

  it('do not blame a reference to a resource that is broken itself', () => {
    const text = `${SERVER.replace('redis: { managed: {} }', 'redis: {}')}${library('  type: movies')}`;
    expect(problemsOf(text)).to.deep.equal(['home.yaml:6 spec.redis: exactly one of secretRef, managed']);
  });

  it('refuse fields that one machine cannot serve', () => {
    const text = SERVER.replace('hostPath: { path: /films }', 'nfs: { server: nas, path: /films }');
    expect(problemsOf(text)).to.deep.equal([
      'home.yaml:8 spec.media[0]: one machine mounts nothing: use hostPath with a folder, or s3',
    ]);
    expect(problemsOf(library('  type: movies'))).to.include('-f no MediaServer is given');
  });

  it('refuse recordings where nothing may be written', () => {
    const tuner = (media: string): string => `---
apiVersion: foyer.media/v1alpha1
kind: TunerDevice
metadata: { name: roof }
spec:
  serverRef: { name: home }
  source: { hdhomerun: { address: 10.0.0.7 } }
  recordings: { media: ${media} }
`;
    expect(problemsOf(SERVER + tuner('films'))).to.deep.equal([
      'home.yaml:16 spec.recordings.media: media films is readOnly',
    ]);
    expect(problemsOf(SERVER + tuner('attic'))[0]).to.contain('no media attic');
    const writable = SERVER.replace('path: /films } }', 'path: /films }, readOnly: false }');
    expect(problemsOf(writable + tuner('films'))).to.deep.equal([]);
    const never = `${tuner('films')}  guide: { xmltv: { url: 'http://tv.lan/guide' }, refresh: '0 0 30 2 *' }\n`;
    expect(problemsOf(writable + never).join()).to.contain('spec.guide.refresh: the month must have the day');
    const inForce = new Map([['TunerDevice/roof', { serverRef: { name: 'home' }, source: { m3u: {} } }]]);
    expect(problemsOf(writable + tuner('films'), inForce)[0]).to.contain('the kind of source cannot be changed');
  });

  it('refuse a folder of a library that leads out of its media', () => {
    for (const path of ['..', '/..', '/4k/../..', '../x'])
      expect(
        problemsOf(`${SERVER}${library(`  type: movies\n  folders: [{ media: films, path: "${path}" }]`)}`),
      ).to.deep.equal(['home.yaml:16 spec.folders[0].path: must not contain ..']);
    expect(
      problemsOf(`${SERVER}${library('  type: movies\n  folders: [{ media: films, path: /a..b/...c }]')}`),
    ).to.deep.equal([]);
  });

  it('refuse a change of an immutable field', () => {
    const text = `${SERVER}${library('  type: shows')}`;
    const inForce = new Map([['Library/films', { type: 'movies', serverRef: { name: 'home' } }]]);
    expect(problemsOf(text, inForce)).to.deep.equal(['home.yaml:15 spec.type: cannot be changed']);
    expect(problemsOf(text.replace('shows', 'movies'), inForce)).to.deep.equal([]);
  });

  it('decode the data of Secrets', () => {
    const text =
      '---\napiVersion: v1\nkind: Secret\nmetadata: { name: a }\ndata: { x: aGk= }\nstringData: { y: you }\n';
    expect(toResources(parseText(text, 'a.yaml')).resources.secrets.get('a')).to.deep.equal({ x: 'hi', y: 'you' });
    expect(problemsOf(`${SERVER}${text.replace('aGk=', '"%"')}`)).to.have.length(1);
  });

  describe('on disk', () => {
    let dir: string;
    beforeEach(() => {
      dir = mkdtempSync(join(tmpdir(), 'foyer-files-'));
    });
    afterEach(() => rmSync(dir, { recursive: true }));

    it('are those of a folder by name, and a missing one is a problem', () => {
      writeFileSync(join(dir, 'b.yaml'), SERVER);
      writeFileSync(join(dir, 'a.yml'), library('  type: movies'));
      writeFileSync(join(dir, 'notes.txt'), 'no');
      const { documents, problems } = readDocuments([dir, join(dir, 'gone.yaml')]);
      expect(documents.map(({ value }) => value.kind)).to.deep.equal(['Library', 'MediaServer']);
      expect(problems.map(({ message }) => message)[0]).to.contain('ENOENT');
    });

    it('are not the copies of an editor next to them; an unreadable one is reported, and so is a folder with none', () => {
      mkdirSync(join(dir, 'folder.yaml'));
      symlinkSync('nowhere', join(dir, '.#home.yaml'));
      writeFileSync(join(dir, 'latin.yaml'), Buffer.from('name: caf\xe9', 'latin1'));
      writeFileSync(join(dir, 'none.yaml'), '# nothing\n---\n');
      const texts = readDocuments([dir, join(dir, 'folder.yaml'), join(dir, 'latin.yaml', 'x')]).problems.map(
        problemText,
      );
      expect(texts.map((line) => line.replace(dir, ''))).to.deep.equal([
        '/folder.yaml no .yaml or .yml file in it',
        '/folder.yaml EISDIR: illegal operation on a directory, read',
        '/latin.yaml:1 not UTF-8 text',
        `/latin.yaml/x ENOTDIR: not a directory, open '${dir}/latin.yaml/x'`,
      ]);
    });

    it('may go altogether, and come back, without a fault', () => {
      const folder = join(dir, 'resources');
      mkdirSync(folder);
      writeFileSync(join(folder, 'home.yaml'), SERVER);
      const source = new Source([folder]);
      source.read(new Map());
      const before = source.resources;
      renameSync(folder, `${folder}.away`);
      writeFileSync(folder, 'a file now');
      expect(source.changed()).to.equal(true);
      expect(source.read(new Map())).to.equal(true);
      expect([source.resources, source.problems.length > 0]).to.deep.equal([before, true]);
      rmSync(folder);
      renameSync(`${folder}.away`, folder);
      expect(source.changed()).to.equal(true);
      source.read(new Map());
      expect(source.problems).to.deep.equal([]);
    });

    it('leave out a Library or a TunerDevice that is wrong, and keep the others', () => {
      const file = join(dir, 'home.yaml');
      const library = (name: string, type: string) => `---
apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: ${name} }
spec: { serverRef: { name: home }, type: ${type}, folders: [{ media: films, path: /${name} }] }
`;
      const tuner = `---
apiVersion: foyer.media/v1alpha1
kind: TunerDevice
metadata: { name: attic }
spec: { serverRef: { name: home }, colour: red }
`;
      const source = new Source([file]);
      const look = (text: string): void => {
        writeFileSync(file, text);
        while (!source.read(new Map()));
      };
      look(SERVER + library('films', 'movies') + library('bad', 'nonsense') + tuner);
      const types = () => source.resources?.libraries.map(({ name, spec }) => [name, spec.type]);
      expect([source.isRefused, types(), source.resources?.tuners]).to.deep.equal([false, [['films', 'movies']], []]);
      expect(source.problems.map((texts) => /:\d+ (\S+)/.exec(texts)?.[1])).to.deep.equal([
        'spec.type:',
        'spec.source:',
        'spec.colour:',
      ]);
      expect([...(source.resources?.declared ?? [])]).to.include('Library/bad'); // its remains on the server stay
      look(SERVER + library('films', 'nonsense') + library('bad', 'shows'));
      expect([source.isRefused, types()]).to.deep.equal([
        false,
        [
          ['bad', 'shows'],
          ['films', 'movies'],
        ],
      ]);
      look(`${SERVER}  colour: red\n${library('films', 'shows')}`);
      expect([source.isRefused, types()?.length]).to.deep.equal([true, 2]);
    });

    it('keep the state before while they are bad', () => {
      const file = join(dir, 'home.yaml');
      writeFileSync(file, SERVER);
      const source = new Source([file]);
      expect(source.read(new Map())).to.equal(true);
      const before = source.resources;
      expect(source.read(new Map())).to.equal(false);
      writeFileSync(file, `${SERVER}  colour: red\n`);
      expect(source.changed()).to.equal(true);
      expect(source.read(new Map())).to.equal(true);
      expect(source.resources).to.equal(before);
      expect(source.problems[0]).to.match(/home\.yaml:9 spec\.colour: unknown field$/);
      writeFileSync(file, SERVER.slice(0, 60)); // in the middle of being written
      expect(source.read(new Map())).to.equal(false);
      writeFileSync(file, `${SERVER}  suspend: true\n`);
      expect(source.read(new Map())).to.equal(false);
      expect(source.read(new Map())).to.equal(true);
      expect(source.problems).to.deep.equal([]);
      expect(source.resources?.servers[0]?.spec.suspend).to.equal(true);
    });
  });
});
