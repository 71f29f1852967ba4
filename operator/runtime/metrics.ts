// The names of controller-runtime, so that its dashboards and alerts apply.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export type Metrics = ReturnType<typeof newMetrics>;

export function newMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers });
  const seconds = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Histogram({ name, help, labelNames, buckets: SECONDS, registers });
  return {
    registry,
    reconciles: counter('controller_runtime_reconcile_total', 'Passes, by how they ended', ['controller', 'result']),
    reconcileErrors: counter('controller_runtime_reconcile_errors_total', 'Passes that failed', ['controller']),
    reconcileTime: seconds('controller_runtime_reconcile_time_seconds', 'Length of a pass', ['controller']),
    activeWorkers: gauge('controller_runtime_active_workers', 'Passes under way', ['controller']),
    maxWorkers: gauge('controller_runtime_max_concurrent_reconciles', 'Passes at once, at most', ['controller']),
    queueDepth: gauge('workqueue_depth', 'Keys that wait for a pass', ['name', 'controller']),
    queueAdds: counter('workqueue_adds_total', 'Keys that were added', ['name', 'controller']),
    queueRetries: counter('workqueue_retries_total', 'Keys that were added again after a fault', [
      'name',
      'controller',
    ]),
    queueTime: seconds('workqueue_queue_duration_seconds', 'How long keys waited', ['name', 'controller']),
    workTime: seconds('workqueue_work_duration_seconds', 'How long keys were worked on', ['name', 'controller']),
    leader: gauge('leader_election_master_status', '1 while this process leads', ['name']),
    requests: counter('rest_client_requests_total', 'Answers of the API server', ['code', 'method']),
    writes: counter('foyer_operator_writes_total', 'Objects written, by kind and verb', ['kind', 'verb']),
    restarts: counter('foyer_informer_restarts_total', 'Watches that ended, by why', ['kind', 'reason']),
    staleness: gauge('foyer_informer_staleness_seconds', 'Since the last sign of life', ['kind', 'namespace']),
    synced: gauge('foyer_informer_synced', '1 when the cache was filled', ['kind', 'namespace']),
  };
}

/** Metrics of the process itself; called once, by the program. */
export function processMetrics({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
}
