// Pod Security "restricted", as its standard words it (v1.34), over a pod's spec.
type Plain = Record<string, unknown>;

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const HOST = ['hostNetwork', 'hostPID', 'hostIPC'];

/** The refusals of the admission, in words; volumes of the kinds in `allowed` are permitted. */
export function violations(spec: Plain, allowed: readonly string[] = []): string[] {
  const pod = (spec.securityContext ?? {}) as Plain;
  const volumes = (spec.volumes ?? []) as Plain[];
  const containers = [...((spec.containers ?? []) as Plain[]), ...((spec.initContainers ?? []) as Plain[])];
  const kinds = volumes.flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
  return [
    ...HOST.filter((member) => spec[member]).map((member) => `${member} is set`),
    ...kinds.filter((kind) => ![...VOLUMES, ...allowed].includes(kind)).map((kind) => `volume of kind ${kind}`),
    ...containers.flatMap((container) => ofContainer(container, pod)),
  ];
}

function ofContainer({ name, securityContext, ports }: Plain, pod: Plain): string[] {
  const own = (securityContext ?? {}) as Plain;
  const effective = { ...pod, ...own };
  const { drop = [], add = [] } = (own.capabilities ?? {}) as { drop?: string[]; add?: string[] };
  const profile = (effective.seccompProfile as { type?: string } | undefined)?.type;
  const wrong: [boolean, string][] = [
    [own.privileged === true, 'privileged'],
    [own.allowPrivilegeEscalation !== false, 'allowPrivilegeEscalation'],
    [effective.runAsNonRoot !== true, 'runAsNonRoot'],
    [effective.runAsUser === 0, 'runs as root'],
    [!drop.includes('ALL'), 'keeps capabilities'],
    [add.some((capability) => capability !== 'NET_BIND_SERVICE'), 'adds capabilities'],
    [profile !== 'RuntimeDefault' && profile !== 'Localhost', 'seccomp'],
    [((ports ?? []) as Plain[]).some(({ hostPort }) => hostPort), 'hostPort'],
  ];
  return wrong.filter(([is]) => is).map(([, what]) => `${String(name)}: ${what}`);
}
