#pragma once

// Everything SwarmKV offers. One header a concept; include single ones if you like.
#include "swarmkv/bench.h"
#include "swarmkv/engine.h"
#include "swarmkv/error.h"
#include "swarmkv/event.h"
#include "swarmkv/pipeline.h"
#include "swarmkv/plan.h"
#include "swarmkv/report.h"
#include "swarmkv/request.h"
#include "swarmkv/sampling.h"
#include "swarmkv/snapshot.h"
