// `operator local status`, with the columns of kubectl.
import { stringify } from 'yaml';
import type { Stored } from './local/status-file.ts';
import { kinds } from './schemas/kinds.ts';
import type { Column } from './schemas/structural.ts';

export type Format = 'table' | 'yaml' | 'json';

export function printStatus(items: readonly Stored[], format: Format, now = new Date()): string {
  const list = { apiVersion: 'v1', kind: 'List', items };
  if (format === 'json') return `${JSON.stringify(list, null, 2)}\n`;
  if (format === 'yaml') return stringify(list, { aliasDuplicateObjects: false });
  const tables = kinds.map(({ kind, columns }) => {
    const own = items.filter((item) => item.kind === kind);
    const shown = columns.filter(({ priority }) => !priority);
    const head = ['NAME', ...shown.map(({ name }) => name.toUpperCase()), 'AGE'];
    const rows = own.map((item) => [
      item.metadata.name,
      ...shown.map((column) => cell(item, column, now)),
      ageOf(item, now),
    ]);
    return own.length ? table([head, ...rows]) + faults(own) : '';
  });
  return tables.filter(Boolean).join('\n') || 'No resources.\n';
}

/** Conditions that report a problem, one per line. */
function faults(items: readonly Stored[]): string {
  const lines = items.flatMap((item) =>
    ((item.status.conditions ?? []) as Record<string, string>[])
      .filter(({ type, status, reason }) => isFault(type ?? '', status ?? '', reason ?? ''))
      .map(({ type, reason, message }) => `  ${item.metadata.name}: ${type} ${reason}: ${message}`),
  );
  return lines.length ? `${lines.join('\n')}\n` : '';
}

function isFault(type: string, status: string, reason: string): boolean {
  if (type === 'Progressing' || reason === 'NoneAsked' || reason === 'NeverScanned') return false;
  return type === 'Degraded' ? status === 'True' : status === 'False';
}

function cell(item: Stored, column: Column, now: Date): string {
  const value = valueAt(item, column.jsonPath);
  if (typeof value !== 'string' && typeof value !== 'number') return '<none>';
  return column.type === 'date' ? span(now.getTime() - Date.parse(`${value}`)) : `${value}`;
}

/** The JSONPath of printer columns: members, and one filter on the type of a condition. */
export function valueAt(item: unknown, path: string): unknown {
  const condition = /^(.*)\[\?\(@\.type=="(\w+)"\)\]\.(\w+)$/.exec(path);
  if (condition) {
    const [, list = '', type, field = ''] = condition;
    const entries = (valueAt(item, list) ?? []) as Record<string, unknown>[];
    return entries.find((entry) => entry.type === type)?.[field];
  }
  const steps = path.split('.').filter(Boolean);
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], item);
}

const ageOf = (item: Stored, now: Date): string => span(now.getTime() - Date.parse(item.metadata.creationTimestamp));

/** 42s, 7m, 3h, 12d */
function span(ms: number): string {
  const steps: [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'm'],
  ];
  const [size, unit] = steps.find(([length]) => ms >= length) ?? [1000, 's'];
  return `${Math.max(0, Math.floor(ms / size))}${unit}`;
}

function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `${row
          .map((text, column) => text.padEnd((widths[column] ?? 0) + 3))
          .join('')
          .trimEnd()}\n`,
    )
    .join('');
}
