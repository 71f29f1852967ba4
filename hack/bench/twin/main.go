// The twin of the Library controller on controller-runtime: the same requests to the server's API and the same writes to
// the cluster for each Library, so that hack/bench/operator.ts can measure the two side by side.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"go.uber.org/zap/zapcore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const manager = client.FieldOwner("foyer")

var kind = schema.GroupVersionKind{Group: "foyer.media", Version: "v1alpha1", Kind: "Library"}

type reconciler struct {
	client.Client
	api string
}

// library has the fields of the server's response that the status reports.
type library struct {
	ID         string         `json:"id"`
	ItemCounts map[string]int `json:"itemCounts"`
	SizeBytes  int64          `json:"sizeBytes"`
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := of(kind)
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if _, done, _ := unstructured.NestedString(object.Object, "status", "libraryId"); done {
		return ctrl.Result{}, nil
	}
	made, err := r.create(ctx, object)
	if err != nil {
		return ctrl.Result{}, err
	}
	status := bare(object, map[string]any{"status": statusOf(object, made)})
	return ctrl.Result{}, r.Status().Patch(ctx, status, client.Apply, manager, client.ForceOwnership)
}

func of(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// bare is the object as it is applied: its name and the fields that we own.
func bare(object *unstructured.Unstructured, content map[string]any) *unstructured.Unstructured {
	applied := &unstructured.Unstructured{Object: content}
	applied.SetGroupVersionKind(kind)
	applied.SetNamespace(object.GetNamespace())
	applied.SetName(object.GetName())
	return applied
}

func (r *reconciler) create(ctx context.Context, object *unstructured.Unstructured) (library, error) {
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	managed := map[string]any{"kind": "Library", "namespace": object.GetNamespace(), "name": object.GetName(), "uid": object.GetUID()}
	body, err := json.Marshal(map[string]any{"name": object.GetName(), "type": spec["type"], "folders": spec["folders"], "managedBy": managed})
	if err != nil {
		return library{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.api+"/api/v1/libraries", bytes.NewReader(body))
	if err != nil {
		return library{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return library{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		return library{}, fmt.Errorf("the server answered %d", answer.StatusCode)
	}
	var made library
	return made, json.NewDecoder(answer.Body).Decode(&made)
}

func statusOf(object *unstructured.Unstructured, made library) map[string]any {
	now := metav1.Now().UTC().Format(time.RFC3339)
	conditions := []any{}
	for _, kind := range []string{"FoldersAvailable", "Ready", "Reconciling", "Scanned", "Stalled", "Synced"} {
		holds := "True"
		if kind == "Reconciling" || kind == "Stalled" {
			holds = "False"
		}
		conditions = append(conditions, map[string]any{
			"type": kind, "status": holds, "reason": "AllReady", "message": "In sync, and its folders can be read",
			"observedGeneration": object.GetGeneration(), "lastTransitionTime": now,
		})
	}
	items := int64(0)
	for _, count := range made.ItemCounts {
		items += int64(count)
	}
	return map[string]any{
		"libraryId": made.ID, "items": items, "sizeBytes": made.SizeBytes,
		"observedGeneration": object.GetGeneration(), "conditions": conditions,
	}
}

func main() {
	api := flag.String("api", "", "address of the server's API")
	namespace := flag.String("namespace", "", "the one to watch; none is all")
	workers := flag.Int("workers", 10, "reconciles at once")
	flag.Parse()
	log.SetLogger(zap.New(zap.Level(zapcore.ErrorLevel)))
	if err := run(*api, *namespace, *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(api, namespace string, workers int) error {
	config := ctrl.GetConfigOrDie()
	config.QPS = -1
	watched := cache.Options{}
	if namespace != "" {
		watched.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	cached := client.Options{Cache: &client.CacheOptions{Unstructured: true}} // otherwise each read is a request
	made, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: runtime.NewScheme(), Cache: watched, Client: cached, Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(made).For(of(kind)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&reconciler{Client: made.GetClient(), api: api})
	if err != nil {
		return err
	}
	return made.Start(ctrl.SetupSignalHandler())
}
