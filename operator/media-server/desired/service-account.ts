import type { Manifest } from '../../runtime/manifest.ts';
import type { Server } from '../server.ts';
import { metaOf } from './meta.ts';

/** Shared by all pods. It has no Role and no token: no component uses the Kubernetes API. */
export const serviceAccount = (server: Server): Manifest<'ServiceAccount'> => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: metaOf(server, {}),
  automountServiceAccountToken: false,
});
