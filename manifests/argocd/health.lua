-- Health of a MediaServer, a Library or a TunerDevice for Argo CD, from the conditions that kstatus reads.
if obj.spec ~= nil and obj.spec.suspend == true then
  return { status = "Suspended", message = "spec.suspend is set" }
end
if (obj.metadata.annotations or {})["foyer.media/reconcile"] == "paused" then
  return { status = "Suspended", message = "foyer.media/reconcile is paused" }
end
local status = obj.status or {}
if status.conditions == nil then
  return { status = "Progressing", message = "Waiting for the operator" }
end
if status.observedGeneration ~= nil and status.observedGeneration < obj.metadata.generation then
  return { status = "Progressing", message = "The operator has not reconciled the change yet" }
end
local found = {}
for _, condition in ipairs(status.conditions) do
  found[condition.type] = condition
end
local function is(name)
  return found[name] ~= nil and found[name].status == "True"
end
if is("Stalled") then
  return { status = "Degraded", message = found["Stalled"].message }
end
if is("Ready") then
  if is("Degraded") then
    return { status = "Degraded", message = found["Degraded"].message }
  end
  return { status = "Healthy", message = found["Ready"].message }
end
local ready = found["Ready"] or {}
return { status = "Progressing", message = ready.message or "Waiting for the operator" }
