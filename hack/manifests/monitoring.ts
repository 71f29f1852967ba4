// manifests/dashboards/operator.json for Grafana, and the health checks of the three kinds for Argo CD.
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { kinds } from '#operator/schemas/kinds.ts';

const of = '{service="foyer-operator"}';
const panels: [title: string, expr: string, unit?: string][] = [
  ['Passes a second', `sum by (controller, result) (rate(controller_runtime_reconcile_total${of}[5m]))`],
  [
    'Slowest twentieth of passes',
    `histogram_quantile(0.95, sum by (le, controller) (rate(controller_runtime_reconcile_time_seconds_bucket${of}[5m])))`,
    's',
  ],
  ['Resources that wait', `max by (controller) (workqueue_depth${of})`],
  ['Writes a second', `sum by (kind, verb) (rate(foyer_operator_writes_total${of}[5m]))`],
  ['Answers of the API server', `sum by (code, method) (rate(rest_client_requests_total${of}[5m]))`],
  ['Since the last sign of life', `max by (kind) (foyer_informer_staleness_seconds${of})`, 's'],
  ['Who leads', `leader_election_master_status${of}`],
  ['Memory', `process_resident_memory_bytes${of}`, 'bytes'],
];

export function operatorDashboard(): string {
  const made = panels.map(([title, expr, unit], place) => ({
    title,
    type: 'timeseries',
    datasource: { type: 'prometheus', uid: `\${datasource}` },
    gridPos: { h: 8, w: 12, x: (place % 2) * 12, y: Math.floor(place / 2) * 8 },
    fieldConfig: { defaults: { unit: unit ?? 'short' } },
    targets: [{ expr, refId: 'A' }],
  }));
  const variable = { name: 'datasource', type: 'datasource', query: 'prometheus' };
  const text = {
    title: 'Foyer operator',
    uid: 'foyer-operator',
    schemaVersion: 39,
    templating: { list: [variable] },
    panels: made,
  };
  return `${JSON.stringify(text, null, 1)}\n`;
}

/** To merge into Argo CD's own ConfigMap. */
export function argoHealth(): string {
  const lua = readFileSync(new URL('../../manifests/argocd/health.lua', import.meta.url), 'utf8');
  const data = Object.fromEntries(kinds.map(({ kind }) => [`resource.customizations.health.foyer.media_${kind}`, lua]));
  const metadata = { name: 'argocd-cm', namespace: 'argocd', labels: { 'app.kubernetes.io/part-of': 'argocd' } };
  return stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, { aliasDuplicateObjects: false });
}
