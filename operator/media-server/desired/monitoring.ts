// Objects for Prometheus and Grafana, where the spec enables them.
import type { AlertRule, Manifest } from '../../runtime/manifest.ts';
import type { Server } from '../server.ts';
import { metaOf, selectorOf } from './meta.ts';

/** The API pods expose the metrics of the whole server, including transcode workers. */
function serviceMonitor(server: Server): Manifest<'ServiceMonitor'> {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: metaOf(server, {}),
    spec: { selector: { matchLabels: selectorOf(server, 'api') }, endpoints: [{ port: 'metrics', interval: '30s' }] },
  };
}

interface Alert {
  name: string;
  expr: string;
  for: string;
  severity: 'warning' | 'critical';
  summary: string;
  /** Steps for the person on call. */
  runbook: string;
}

function alerts({ name, namespace }: Server): Alert[] {
  const of = `namespace="${namespace}",service="${name}-api"`;
  const look = `kubectl -n ${namespace} describe mediaserver ${name}`;
  const log = `kubectl -n ${namespace} logs -l app.kubernetes.io/instance=${name},app.kubernetes.io/component=api --prefix --since=15m`;
  return [
    {
      name: 'FoyerDown',
      expr: `absent(up{${of}} == 1)`,
      for: '5m',
      severity: 'critical',
      summary: 'No API pod answers: users cannot sign in or play',
      runbook: `${look}: the conditions name the part that is unavailable, and the fix. If all conditions are good, Prometheus does not reach the metrics port: check the NetworkPolicy ${name}-metrics. Then ${log}`,
    },
    {
      name: 'FoyerErrors',
      expr: `sum(rate(foyer_http_requests_total{${of},status=~"5.."}[5m])) > 0.05 * sum(rate(foyer_http_requests_total{${of}}[5m]))`,
      for: '10m',
      severity: 'warning',
      summary: 'More than one request in twenty fails',
      runbook: `${look}: DatabaseReady, RedisReady and ObjectsReady report a failing store. Otherwise ${log}: each error has the requestId of its response`,
    },
    {
      name: 'FoyerTranscodeWaits',
      expr: `max(foyer_transcode_waiting{${of}}) > 0`,
      for: '2m',
      severity: 'warning',
      summary: 'Sessions wait for a transcode worker',
      runbook: `${look}: TranscodeReady names pods that are unschedulable, cannot be created or crash. If all workers run, raise spec.transcode.max, or spec.transcode.sessionsPerJob on strong hardware`,
    },
  ];
}

function prometheusRule(server: Server): Manifest<'PrometheusRule'> {
  const rules = alerts(server).map(
    ({ name, expr, for: after, severity, summary, runbook }): AlertRule => ({
      alert: name,
      expr,
      for: after,
      labels: { severity, mediaserver: server.name },
      annotations: { summary, runbook },
    }),
  );
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: metaOf(server, {}),
    spec: { groups: [{ name: `foyer-${server.name}`, rules }] },
  };
}

function panel(title: string, expr: string, place: number): object {
  return {
    title,
    type: 'timeseries',
    datasource: { type: 'prometheus', uid: `\${datasource}` },
    gridPos: { h: 8, w: 12, x: (place % 2) * 12, y: Math.floor(place / 2) * 8 },
    targets: [{ expr, refId: 'A' }],
  };
}

/** Grafana's sidecar finds it by its label. */
function dashboard(server: Server): Manifest<'ConfigMap'> {
  const { name, namespace } = server;
  const of = `namespace="${namespace}",service="${name}-api"`;
  const panels = [
    panel('Requests a second', `sum(rate(foyer_http_requests_total{${of}}[5m])) by (status)`, 0),
    panel(
      'Slowest twentieth by area, seconds',
      `histogram_quantile(0.95, sum(rate(foyer_http_request_duration_seconds_bucket{${of}}[5m])) by (le, area))`,
      1,
    ),
    panel('Transcode sessions', `max(foyer_transcode_sessions{${of}})`, 2),
    panel('Waiting sessions', `max(foyer_transcode_waiting{${of}})`, 3),
    panel('Memory of API pods, bytes', `process_resident_memory_bytes{${of}}`, 4),
  ];
  const variable = { name: 'datasource', type: 'datasource', query: 'prometheus' };
  const text = { title: `Foyer ${namespace}/${name}`, schemaVersion: 39, templating: { list: [variable] }, panels };
  const metadata = metaOf(server, { suffix: 'dashboard' });
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, labels: { ...metadata.labels, grafana_dashboard: '1' } },
    data: { [`foyer-${namespace}-${name}.json`]: JSON.stringify(text) },
  };
}

export function monitoringObjects(server: Server, served: ReadonlySet<string>): Manifest[] {
  const { monitoring } = server.spec;
  return [
    ...(monitoring.serviceMonitor && served.has('ServiceMonitor') ? [serviceMonitor(server)] : []),
    ...(monitoring.prometheusRule && served.has('PrometheusRule') ? [prometheusRule(server)] : []),
    ...(monitoring.dashboard ? [dashboard(server)] : []),
  ];
}
