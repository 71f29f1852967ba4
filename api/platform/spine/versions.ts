/** Negative when `a` is older, of versions such as 2026.11.3. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [a, b].map((version) => version.split('.').map(Number));
  for (const [at, part] of (one ?? []).entries()) if (part !== other?.[at]) return part - (other?.[at] ?? 0);
  return 0;
}
