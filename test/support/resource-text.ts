/** YAML of a MediaServer called home whose stores are its own, with more lines of its spec. */
export const serverText = (...spec: string[]): string => `apiVersion: foyer.media/v1alpha1
kind: MediaServer
metadata: { name: home }
spec:
  postgres: { managed: {} }
  redis: { managed: {} }
  objects: { managed: {} }
${spec.map((line) => `  ${line}\n`).join('')}`;
