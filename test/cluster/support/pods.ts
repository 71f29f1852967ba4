// Pods as the operator makes them: under Pod Security `restricted`, with a read-only root.
import type { Kubectl } from './kubectl.ts';

export interface PodOptions {
  name: string;
  namespace: string;
  image: string;
  command?: readonly string[];
  args?: readonly string[];
  env?: Record<string, string>;
  uid?: number;
  /** Claim name or 'emptyDir', by mount path. /tmp is always there. */
  mounts?: Record<string, string>;
}

const volumeName = (path: string) => path.slice(1).replaceAll(/[^a-z0-9]+/g, '-');

function volume(path: string, source: string): object {
  const from = source === 'emptyDir' ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: source } };
  return { name: volumeName(path), ...from };
}

export function pod(options: PodOptions): object {
  const { name, namespace, image, command, args, env = {}, uid = 1000 } = options;
  const mounts = { '/tmp': 'emptyDir', ...options.mounts };
  const securityContext = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  };
  const container = {
    name: 'main',
    image,
    imagePullPolicy: 'Never',
    ...(command && { command }),
    ...(args && { args }),
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    securityContext,
    volumeMounts: Object.keys(mounts).map((path) => ({ name: volumeName(path), mountPath: path })),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 2,
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: uid,
        runAsGroup: uid,
        fsGroup: uid,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [container],
      volumes: Object.entries(mounts).map(([path, source]) => volume(path, source)),
    },
  };
}

/** Runs a pod to its end; returns its output. Throws with that when it failed. */
export async function runPod(kubectl: Kubectl, options: PodOptions): Promise<string> {
  const { name, namespace } = options;
  await kubectl.apply(pod(options));
  const succeeded = kubectl.wait({ kind: 'pod', name, namespace }, 'jsonpath={.status.phase}=Succeeded', 60);
  const failed = kubectl.attempt([
    'wait',
    `pod/${name}`,
    '-n',
    namespace,
    '--for=jsonpath={.status.phase}=Failed',
    '--timeout=60s',
  ]);
  await Promise.race([succeeded.catch(() => undefined), failed]);
  const logs = await kubectl.run(['logs', name, '-n', namespace]);
  const made = await kubectl.find<{ status: { phase: string } }>({ kind: 'pod', name, namespace });
  if (made?.status.phase !== 'Succeeded') throw new Error(`pod ${name} is ${made?.status.phase}: ${logs}`);
  return logs;
}
