// Which beginnings of what agents read have snapshots, and how their states come about.
#include "api/snapshot_targets.h"

#include <gtest/gtest.h>

#include "attention/grouped.h"
#include "engine/fake/fake_engine.h"
#include "support/pipelines.h"

namespace swarmkv::internal {
namespace {

using swarmkv::testing::agent;
using swarmkv::testing::pipeline_of;

//  documents: a b c; each agent reads some of them
Pipeline pipeline(const std::vector<std::vector<std::string>>& reads) {
  Pipeline out = pipeline_of({}, "text of a");
  out.documents[0].name = "a";
  for (const char* name : {"b", "c"}) {
    DocumentSpec spec;
    spec.name = name;
    spec.text = std::string("text of ") + name;
    out.documents.push_back(spec);
  }
  for (std::size_t i = 0; i < reads.size(); ++i) {
    AgentSpec spec = agent("agent" + std::to_string(i), "question");
    spec.reads = reads[i];
    out.agents.push_back(spec);
  }
  return out;
}

std::shared_ptr<const Prepared> prepared(const Pipeline& pipeline) {
  return prepare(make_fake_model(), pipeline, {});
}

TEST(SnapshotTargets, OffHasNone) {
  const auto p = prepared(pipeline({{"a"}, {"a", "b"}}));
  for (const char* use : {"off", ""}) {
    const SnapshotPlan plan = plan_snapshots(*p, use);
    EXPECT_TRUE(plan.targets.empty());
    EXPECT_TRUE(plan.files.empty());
  }
}

TEST(SnapshotTargets, AreWhatIsReadUpToTheLastDocumentThatWantsOne) {
  Pipeline spec = pipeline({{"a", "b", "c"}, {"a", "b"}, {"c", "a"}, {}});
  spec.documents[2].snapshot = "off";
  const auto p = prepared(spec);
  const SnapshotPlan plan = plan_snapshots(*p, "auto");
  // [a b c] without its last one is [a b]; [c a] ends with a document that wants one.
  ASSERT_EQ(plan.targets.size(), 2u);
  EXPECT_EQ(plan.targets[0].documents, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(plan.targets[0].n_tokens(), p->read_lists[1].n_tokens());
  EXPECT_EQ(plan.targets[0].document_ends.size(), 2u);
  EXPECT_TRUE(plan.targets[0].is_auto);
  EXPECT_EQ(plan.targets[1].documents, (std::vector<std::size_t>{0}));
  EXPECT_EQ(plan.targets[1].n_tokens(), p->read_lists[2].n_tokens());
}

//  [a b c]: a file may hold the first, the first two or all of them
TEST(SnapshotTargets, AFileIsNamedAfterTheDocumentsThatItHoldsWhole) {
  Pipeline spec = pipeline({{"a", "b", "c"}});
  spec.documents[0].snapshot = "off";
  const auto p = prepared(spec);
  const SnapshotPlan plan = plan_snapshots(*p, "auto");
  ASSERT_EQ(plan.targets.size(), 1u);
  const SnapshotTarget& target = plan.targets[0];
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_in(*p, target, target.n_tokens()), (Names{"a", "b", "c"}));
  EXPECT_EQ(names_in(*p, target, target.document_ends[1]), (Names{"a", "b"}));
  EXPECT_EQ(names_in(*p, target, target.document_ends[1] - 1), Names{"a"});
  EXPECT_EQ(names_in(*p, target, 1), (Names{"a", "b", "c"})) << "not even one: a part of it all";

  EXPECT_EQ(label_of({"a"}), "a");
  EXPECT_EQ(label_of({"rules", "contract"}), "rules + contract");
  const Names many(1000, "a_document");
  EXPECT_LT(label_of(many).size(), 450u) << "a header's text has an end";
  EXPECT_TRUE(label_of(many).starts_with("a_document + a_document + "));
  EXPECT_TRUE(label_of(many).ends_with(" more")) << label_of(many);
}

TEST(SnapshotTargets, AFileStandsAtItsDocument) {
  Pipeline spec = pipeline({{"a"}, {"b", "a"}, {"b"}});
  spec.folder = "/some/folder";
  spec.documents[0].snapshot = "kept.swarmkv";
  const SnapshotPlan plan = plan_snapshots(*prepared(spec), "off");
  ASSERT_EQ(plan.files.size(), 1u);
  EXPECT_EQ(plan.files[0].path, "/some/folder/kept.swarmkv");
  EXPECT_EQ(plan.files[0].document, 0u);
  EXPECT_EQ(plan.files[0].targets, (std::vector<std::size_t>{0, 1}));
  ASSERT_EQ(plan.targets.size(), 2u);
  EXPECT_FALSE(plan.targets[0].is_auto);
  // A path of the run's options starts where the program stands.
  const SnapshotPlan given = plan_snapshots(*prepared(pipeline({{"b"}})), "kept.swarmkv");
  EXPECT_EQ(given.files[0].path, "kept.swarmkv");
}

TEST(SnapshotTargets, OfAnotherKernelVersionOrInstructionSetTheBitsAreOthers) {
  const std::string version = std::to_string(kGroupedKernelVersion);
  EXPECT_EQ(exact_kernel("grouped", ""), "grouped-" + version);
  EXPECT_EQ(exact_kernel("grouped", "AVX2"), "grouped-" + version + ":AVX2");
  EXPECT_EQ(exact_kernel("stock", ""), "stock") << "llama.cpp's version is in the identity";
}

TEST(SnapshotTargets, TheRecipeTellsThePiecesAndNothingThatLiesBehind) {
  SnapshotTarget target;
  target.cuts = {100, 512, 700, 1024};
  const std::string recipe = recipe_of(target, 1000, 512, "stock");
  EXPECT_NE(recipe.find("grid=512 points=100,700 attention=stock"), std::string::npos) << recipe;
  EXPECT_EQ(recipe_of(target, 1024, 512, "stock"), recipe);
  EXPECT_NE(recipe_of(target, 700, 512, "stock"), recipe);
  EXPECT_NE(recipe_of(target, 1000, 256, "stock"), recipe);
  EXPECT_NE(recipe_of(target, 1000, 512, "grouped"), recipe);
  const std::string of_any_pieces = recipe_of(target, 1000, 0, "grouped");
  EXPECT_EQ(recipe_of(target, 700, 0, "grouped"), of_any_pieces);
  EXPECT_NE(of_any_pieces, recipe_of(target, 1000, 512, "grouped"));
  target.cuts.clear();
  for (int i = 1; i < 900; ++i) target.cuts.push_back(i);
  const std::string many = recipe_of(target, 1000, 512, "stock");
  EXPECT_LT(many.size(), 300u) << "a text in a header";
  target.cuts.back() = 901;
  EXPECT_NE(recipe_of(target, 1000, 512, "stock"), many);
}

}  // namespace
}  // namespace swarmkv::internal
