import { Credentials } from '#operator/runtime/credentials.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { Rest } from '#operator/runtime/rest.ts';
import { controlPlane } from './support/cluster.ts';

export interface Connected {
  /** The test's own requests. */
  rest: Rest;
  kubeconfig: string;
}

/** To a control plane with our CRDs, brought up once a run. */
export async function connected(): Promise<Connected> {
  const { kubeconfig, kubectl } = await controlPlane();
  await kubectl.installKinds();
  return { kubeconfig, rest: new Rest({ credentials: new Credentials(kubeconfig), metrics: newMetrics() }) };
}
