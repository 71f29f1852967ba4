// The metrics of a server with another number of requests for speech workers, for the operator: the number is given by the test,
// the rest is what the server reports.

import { images } from './cluster.ts';
import type { Home } from './home.ts';
import { until } from './until.ts';

const NAME = 'speech-demand';
const PORT = 9090;

const PROGRAM = `
  let waiting = 0;
  require('node:http').createServer(async (request, response) => {
    const [, word, number] = request.url.split('/');
    if (word === 'set') waiting = Number(number);
    const real = word === 'metrics' ? await fetch('http://home-api:9090/metrics').then((one) => one.text(), () => '') : '';
    const rest = real.split('\\n').filter((line) => !line.includes('foyer_speech_waiting')).join('\\n');
    response.end(rest + '\\nfoyer_speech_waiting ' + waiting + '\\n');
  }).listen(${PORT});`;

export class SpeechDemand {
  readonly #home: Home;
  #address = '';

  constructor(home: Home) {
    this.#home = home;
  }

  /** The operator reads the metrics here from now on. */
  async start(): Promise<this> {
    const { kubectl, namespace } = this.#home;
    const [image = ''] = await images('product');
    // Under the name of the operator, which the NetworkPolicies let in.
    const labels = { 'app.kubernetes.io/name': 'foyer-operator', app: NAME };
    const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    const container = { name: 'main', image, imagePullPolicy: 'Never', args: ['-e', PROGRAM], securityContext };
    const user = { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } };
    const spec = { securityContext: user, terminationGracePeriodSeconds: 1, containers: [container] };
    const metadata = { name: NAME, namespace };
    const service = { selector: { app: NAME }, ports: [{ port: PORT }] };
    await kubectl.apply(
      { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, labels }, spec },
      { apiVersion: 'v1', kind: 'Service', metadata, spec: service },
    );
    await kubectl.wait({ kind: 'pod', ...metadata }, 'condition=Ready');
    this.#address = await kubectl.run(['get', 'pod', NAME, '-n', namespace, '-o', 'jsonpath={.status.podIP}']);
    const flag = `--server-metrics-url=http://${NAME}.${namespace}.svc:${PORT}/metrics`;
    const patch = [{ op: 'add', path: '/spec/template/spec/containers/0/args/-', value: flag }];
    const words = [
      'patch',
      'deployment',
      'foyer-operator',
      '-n',
      namespace,
      '--type=json',
      '-p',
      JSON.stringify(patch),
    ];
    await kubectl.run(words);
    await kubectl.run(['rollout', 'status', 'deployment/foyer-operator', '-n', namespace, '--timeout=90s']);
    return this;
  }

  /** So many requests want a worker. */
  async set(waiting: number): Promise<void> {
    await until('the metrics', async () => (await fetch(`http://${this.#address}:${PORT}/set/${waiting}`)).ok);
  }
}
