import type { KubeObject } from '../../runtime/kube.ts';
import type { Server } from '../server.ts';
import { metaOf } from './meta.ts';

/** Of all pods. It has no Role and no token: nothing of the server talks to the Kubernetes API. */
export const serviceAccount = (server: Server): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: metaOf(server, {}),
  automountServiceAccountToken: false,
});
