// hack/cluster --kind, on a machine with kind and Docker and without Go: its calls to them, recorded by programs in
// their place.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { temporaryFolder } from '#support/stores.ts';

const KIND = `case "$1 $2" in
  'get clusters') cat "$CALLS.clusters" 2>/dev/null || echo 'No kind clusters found.' >&2 ;;
  'create cluster') echo "$4" >>"$CALLS.clusters" ;;
  'get kubeconfig') echo 'kind: Config' ;;
esac`;
const KUBECTL = `case "$*" in *'get nodes -o jsonpath'*) echo foyer-7-control-plane ;; esac`;

describe('hack/cluster --kind', () => {
  const folder = temporaryFolder('kind');
  const [programs, state, commands] = ['bin', 'state', 'calls'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const program = (name: string, body = ''): void => {
    writeFileSync(join(programs, name), `#!/bin/bash\necho "${name} $*" >>"$CALLS"\n${body}\n`);
    chmodSync(join(programs, name), 0o755);
  };
  const env = () => ({ PATH: `${programs}:/usr/bin:/bin`, HOME: folder, FOYER_CLUSTER: '7', CALLS: commands });
  const run = (...words: string[]): string =>
    execFileSync('hack/cluster', words, {
      env: { ...env(), FOYER_CLUSTER_STATE: state, FOYER_GO: 'no-go-here' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  /** The calls to the programs by this command. */
  const commandsOf = (...words: string[]): string[] => {
    writeFileSync(commands, '');
    run(...words);
    return readFileSync(commands, 'utf8').trim().split('\n');
  };

  before(() => {
    mkdirSync(programs);
    program('docker');
    program('kind', KIND);
    program('kubectl', KUBECTL);
  });

  it('makes one with our audit log and admission, and leaves it where it runs', () => {
    const first = commandsOf('up', '--kind');
    const create = `kind create cluster --name foyer-7 --config ${state}/kind/config.yaml --kubeconfig ${state}/admin.kubeconfig --wait 120s`;
    expect(first).to.deep.equal(['docker info', 'kind get clusters', create, 'kind get kubeconfig --name foyer-7']);
    expect(commandsOf('up')).not.to.include(create);
    expect(run('kubeconfig').trim()).to.equal(`${state}/admin.kubeconfig`);
    expect(readFileSync(`${state}/admin.kubeconfig`, 'utf8')).to.equal('kind: Config\n');
    expect(statSync(`${state}/admin.kubeconfig`).mode & 0o777).to.equal(0o600);
  });

  it('mounts the policy of the log, and the folder that tests read it from', () => {
    const { nodes } = parse(readFileSync(`${state}/kind/config.yaml`, 'utf8')) as {
      nodes: { extraMounts: { hostPath: string; containerPath: string }[]; kubeadmConfigPatches: string[] }[];
    };
    const [one] = nodes;
    const { apiServer } = parse(one?.kubeadmConfigPatches[0] ?? '') as {
      apiServer: { extraArgs: Record<string, string>; extraVolumes: { hostPath: string; mountPath: string }[] };
    };
    const { extraArgs, extraVolumes } = apiServer;
    const { 'audit-policy-file': policy = '', 'audit-log-path': log = '' } = extraArgs;
    /** From a path of the API server's to the one on this machine. */
    const here = (path: string): string => {
      const volume = extraVolumes.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
      const inNode = path.replace(volume?.mountPath ?? '', volume?.hostPath ?? '');
      const mount = one?.extraMounts.find(({ containerPath }) => inNode.startsWith(`${containerPath}/`));
      return inNode.replace(mount?.containerPath ?? '', mount?.hostPath ?? '');
    };
    expect(readFileSync(here(policy), 'utf8')).to.equal(readFileSync('hack/kube/audit-policy.yaml', 'utf8'));
    expect(here(log)).to.equal(`${state}/audit/audit.log`);
    expect(existsSync(`${state}/audit`)).to.equal(true);
    expect(extraArgs['enable-admission-plugins']).to.contain('OwnerReferencesPermissionEnforcement');
  });

  it('loads images, calls its kubectl, and advertises devices there', () => {
    expect(commandsOf('load', 'a.tar', 'b.tar').slice(1)).to.deep.equal([
      'kind load image-archive --name foyer-7 a.tar',
      'kind load image-archive --name foyer-7 b.tar',
    ]);
    const with_ = `kubectl --kubeconfig ${state}/admin.kubeconfig`;
    expect(commandsOf('kubectl', 'get', 'pods', '--kind')).to.deep.equal([`${with_} get pods --kind`]);
    const device = commandsOf('gpu', '2');
    expect(device[1]).to.equal(
      `${with_} patch node foyer-7-control-plane --subresource=status --type=json -p [{"op":"add","path":"/status/capacity/nvidia.com~1gpu","value":"2"}]`,
    );
    expect(device[2]).to.contain(
      'wait node/foyer-7-control-plane --for=jsonpath={.status.allocatable.nvidia\\.com/gpu}=2',
    );
  });

  it('removes it and every file that it wrote', () => {
    expect(commandsOf('down')).to.deep.equal([
      'docker info',
      `kind delete cluster --name foyer-7 --kubeconfig ${state}/admin.kubeconfig`,
    ]);
    expect(existsSync(state)).to.equal(false);
  });

  it('reports missing programs', () => {
    writeFileSync(join(programs, 'docker'), '#!/bin/bash\nexit 1\n');
    expect(() => run('up', '--kind')).to.throw('--kind needs a running Docker');
  });
});
