// Refusals and merges of `kubectl apply`, on a real API server.
import { expect } from 'chai';
import { defaults } from '../../hack/manifests/values.ts';
import { type Cluster, controlPlane, UP_MS } from './support/cluster.ts';
import { goTool, printed } from './support/hack.ts';
import { library, mediaServer, type Resource, tunerDevice, withField } from './support/specs.ts';

describe('resources at apply', function () {
  this.timeout(600_000); // Helm may have to be built
  let cluster: Cluster;
  let namespace = '';

  before(async function () {
    this.timeout(UP_MS);
    cluster = await controlPlane();
    await cluster.kubectl.installKinds();
    namespace = await cluster.kubectl.namespace('apply');
  });
  after(() => cluster.kubectl.deleteNamespace(namespace));

  /** Empty where it is taken. */
  async function refusal(resource: Resource): Promise<string> {
    const object = { ...resource, metadata: { ...resource.metadata, namespace } };
    const words = ['apply', '--server-side', '--dry-run=server', '--field-manager=test', '-f', '-'];
    const { code, err } = await cluster.kubectl.attempt(words, JSON.stringify(object));
    return code === 0 ? '' : err;
  }
  const long = (length: number): string => 'a'.repeat(length);

  for (const [name, made] of Object.entries({ [long(40)]: mediaServer, [long(57)]: tunerDevice, 'a.b': library }))
    it(`take a name that their parts can have: ${name}`, async () => {
      expect(await refusal(made(name))).to.equal('');
    });

  const NAMES: [string, (name: string) => Resource][] = [
    [long(41), mediaServer],
    ['films.home', mediaServer],
    ['1st', mediaServer],
    [long(58), tunerDevice],
    ['tv.home', tunerDevice],
  ];
  for (const [name, made] of NAMES)
    it(`refuse a name that they cannot: ${made(name).kind} ${name}`, async () => {
      expect(await refusal(made(name))).to.contain('metadata.name must begin with a letter');
    });

  const guide = { xmltv: { url: 'http://tv.example/guide.xml' } };
  const schedules: [string, (text: string) => Resource][] = [
    ['Library', (text) => withField(library('films'), 'scan/schedule', text)],
    ['TunerDevice', (text) => withField(tunerDevice('tv'), 'guide', { ...guide, refresh: text })],
  ];
  for (const [kind, made] of schedules) {
    it(`take a schedule that comes: ${kind}`, async () => {
      for (const text of ['0 4 * * *', '5,35 0-6/2 1 JAN,jul MON-FRI', '0 0 29 2 *'])
        expect(await refusal(made(text)), text).to.equal('');
    });
    it(`refuse one that never does: ${kind}`, async () => {
      for (const [text, message] of NEVER) expect(await refusal(made(text)), text).to.contain(message);
    });
  }

  const NEVER = [
    ['60 4 * * *', 'the minute must be 0 to 59'],
    ['0 24 * * *', 'the hour must be 0 to 23'],
    ['0 0 32 * *', 'the day must be 1 to 31'],
    ['0 0 1 13 *', 'the month must be 1 to 12'],
    ['0 0 * * 8', 'the day of the week must be 0 to 7'],
    ['a b c d e', 'the minute must be 0 to 59'],
    ['0 0 31 2 *', 'the month must have the day'],
    ['30-10 * * * *', 'ranges must go up'],
    ['*/0 * * * *', 'a step must not be 0'],
    ['* * * *', 'should match'],
  ] as const;

  it('merge the folders of a Library that several managers name, by media and path', async () => {
    const put = (manager: string, folders: object[]) => {
      const object = { ...library('films'), metadata: { name: 'films', namespace } };
      const spec = { serverRef: { name: 'home' }, type: 'movies', folders };
      const words = ['apply', '--server-side', `--field-manager=${manager}`, '-f', '-'];
      return cluster.kubectl.run(words, JSON.stringify({ ...object, spec }));
    };
    const folders = async () =>
      (await cluster.kubectl.find<Resource>({ kind: 'library', name: 'films', namespace }))?.spec.folders;
    await put('one', [{ media: 'films' }, { media: 'films', path: '/4k' }]);
    await put('two', [{ media: 'nas', path: '/4k' }]);
    expect(await folders()).to.deep.equal([
      { media: 'films', path: '/' },
      { media: 'films', path: '/4k' },
      { media: 'nas', path: '/4k' },
    ]);
    await put('one', [{ media: 'films', path: '/4k' }]);
    expect(await folders()).to.deep.equal([
      { media: 'films', path: '/4k' },
      { media: 'nas', path: '/4k' },
    ]);
    const twice = [{ media: 'films' }, { media: 'films', path: '/' }];
    expect(await refusal(withField(library('other'), 'folders', twice))).to.match(/Duplicate/i);
  });

  it('print notes where the operator is installed by Helm: the image, the next steps, and the address of its code', async () => {
    const helm = await goTool('helm');
    const notesFor = async (...values: string[]): Promise<string> => {
      const where = [
        '-n',
        'films',
        '--kubeconfig',
        cluster.kubeconfig,
        '--dry-run=client',
        '--set',
        'crds.install=false',
        ...values,
      ];
      return (await printed(helm, ['install', 'foyer', 'manifests/chart', ...where])).split('NOTES:')[1] ?? '';
    };
    const notes = await notesFor();
    expect(notes).to.contain('namespace films').and.to.contain(`Its image is ${defaults.image}`);
    expect(notes).to.contain('It has no registry').and.to.contain('kubectl -n films get secret home-claim');
    const own = await notesFor('--set', 'registry=registry.example/a');
    expect(own).to.contain(`Its image is registry.example/a/${defaults.image}`).and.not.to.contain('no registry');
  });

  it('show a status in words, without further options', async () => {
    await cluster.kubectl.apply({ ...mediaServer('home'), metadata: { name: 'home', namespace } });
    const status = { phase: 'RollingOut: MigrationPending' };
    await cluster.kubectl.patch({ kind: 'mediaserver', name: 'home', namespace }, { status }, true);
    const printed = await cluster.kubectl.run(['get', 'ms', '-n', namespace]);
    expect(printed)
      .to.match(/NAME +READY +STATUS +VERSION/)
      .and.to.contain('RollingOut: MigrationPending');
  });
});
