// External access: an Ingress or an HTTPRoute.
import type { Manifest } from '../../runtime/manifest.ts';
import { publicUrl } from '../../server-environment.ts';
import type { Server } from '../server.ts';
import { API_PORT } from './environment.ts';
import { defined, metaOf, nameOf } from './meta.ts';

type Ingress = NonNullable<Server['spec']['ingress']>;

/**
 * cert-manager creates the Secret for these annotations. Issuers of other groups are named by kind and group, which
 * cert-manager rejects together with cluster-issuer.
 */
function issuerAnnotations({ tls }: Ingress): Record<string, string> {
  if (!tls?.issuerRef) return {};
  const { name, kind, group } = tls.issuerRef;
  if (group === 'cert-manager.io' && kind === 'Issuer') return { 'cert-manager.io/issuer': name };
  if (group === 'cert-manager.io' && kind === 'ClusterIssuer') return { 'cert-manager.io/cluster-issuer': name };
  return {
    'cert-manager.io/issuer': name,
    'cert-manager.io/issuer-kind': kind,
    'cert-manager.io/issuer-group': group,
  };
}

export function ingress(server: Server): Manifest<'Ingress'>[] {
  const given = server.spec.ingress;
  if (!given) return [];
  const secretName = given.tls && (given.tls.secretName ?? nameOf(server, 'tls'));
  const backend = { service: { name: nameOf(server, 'api'), port: { number: API_PORT } } };
  const rule = { host: given.host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } };
  const annotations = { ...issuerAnnotations(given), ...given.annotations };
  const object: Manifest<'Ingress'> = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: metaOf(server, { component: 'api', annotations }),
    spec: defined({
      ingressClassName: given.className,
      rules: [rule],
      tls: secretName ? [{ hosts: [given.host], secretName }] : undefined,
    }),
  };
  return [object];
}

export function httpRoute(server: Server): Manifest<'HTTPRoute'>[] {
  const { gateway } = server.spec;
  if (!gateway) return [];
  const backend = { group: '', kind: 'Service', name: nameOf(server, 'api'), port: API_PORT, weight: 1 };
  const match = { path: { type: 'PathPrefix', value: '/' } } as const;
  const parents = gateway.parentRefs.map((parent) => ({
    group: 'gateway.networking.k8s.io',
    kind: 'Gateway',
    ...defined<typeof parent>(parent),
  }));
  const object: Manifest<'HTTPRoute'> = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: metaOf(server, { component: 'api' }),
    spec: defined({
      parentRefs: parents,
      hostnames: gateway.hostnames,
      rules: [{ matches: [match], backendRefs: [backend] }],
    }),
  };
  return [object];
}

/** The public URL of the server; the URL of its Service where there is none. */
export const addressOf = ({ name, namespace, spec }: Server): string =>
  publicUrl(spec) ?? `http://${name}-api.${namespace}.svc:${API_PORT}`;
